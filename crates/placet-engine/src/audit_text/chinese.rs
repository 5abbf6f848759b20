//! What the journal names in English, in Chinese; the web inbox uses the same words.

use placet_core::outcome::Denial;
use placet_core::verdict::{Decision, Step};

pub(super) const fn step(step: Step) -> &'static str {
    match step {
        Step::Deny => "禁止规则，或被封禁",
        Step::AskCategory => "工具本身用于询问",
        Step::Disabled => "审批已关闭",
        Step::Rule => "规则或工具例外",
        Step::HighRisk => "高风险",
        Step::Strict => "严格模式",
        Step::Yolo => "模式：除高风险外允许",
        Step::LowRisk => "读取与低风险",
        Step::OwnOpinion => "工具自己的判断",
        Step::AutoEdit => "模式：允许修改文件",
        Step::AllowList => "白名单或授权",
        Step::Memory => "刚刚批准过",
        Step::Ask => "询问人",
    }
}

pub(super) const fn decision(decision: &Decision) -> &'static str {
    match decision {
        Decision::Allow => "放行",
        Decision::Ask(_) => "询问",
        Decision::Deny => "拒绝",
    }
}

pub(super) const fn denial(denial: &Denial) -> &'static str {
    match denial {
        Denial::Policy { .. } => "策略禁止",
        Denial::NobodyToAsk { .. } => "无人可问",
        Denial::TooManyOpen { .. } => "待答复的问题过多",
        Denial::RejectedBefore { .. } => "同一调用已被拒绝过",
        Denial::SessionOver => "会话已结束",
    }
}
