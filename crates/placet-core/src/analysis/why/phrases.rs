//! The reasons that need nothing filled in, each in English and Chinese side by side.

use crate::interaction::Locale;

/// An enum whose variants are phrases in both languages.
macro_rules! phrases {
    ($(#[$meta:meta])* $name:ident { $($variant:ident: $english:literal, $chinese:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $(#[doc = $english] $variant,)+
        }

        impl $name {
            /// Every one of them.
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),+];

            /// In words.
            pub const fn words(self, locale: Locale) -> &'static str {
                match self {
                    $(Self::$variant => locale.pick($english, $chinese),)+
                }
            }
        }
    };
}

phrases! {
    /// What a command does that is worth a question; follows the command's name.
    Deed {
        MayAnswer: "may answer for people", "可能代替人作答";
        OtherUser: "runs commands as another user", "以其他用户身份运行命令";
        NotFollowed: "runs commands in a way that cannot be followed", "以无法跟踪的方式运行命令";
        OtherMachine: "reaches another machine", "连接到另一台机器";
        RawConnection: "opens a raw connection", "打开原始网络连接";
        RunsOrDeletes: "runs a command or deletes", "运行命令或删除文件";
        SendsOrObeysFile: "sends a file or reads its orders from one", "发送文件，或从文件读取指令";
        SendsFile: "sends a file", "发送文件";
        SendsFileOrRuns: "sends a file or runs a command", "发送文件或运行命令";
        DeletesFolders: "deletes whole folders", "删除整个文件夹";
        DestroysContent: "destroys what a file holds", "毁掉文件内容";
        WorksOnDisks: "works on whole disks", "直接操作整块磁盘";
        TouchesOutside: "touches a place outside the workspace", "触及工作区之外的位置";
        WritesOutside: "writes outside the workspace", "写入工作区之外";
        ChangesFolders: "changes whole folders", "改动整个文件夹";
        RunsAsOwner: "lets a program run as its owner", "让程序以其所有者的身份运行";
        ChangesProtections: "changes protections", "更改保护设置";
        DeletesOrWrites: "deletes or writes files", "删除或写入文件";
        RunsCommands: "runs commands", "运行其他命令";
        EndsProcesses: "ends processes", "结束进程";
        StartsOrStops: "starts or stops services or the machine", "启动或停止服务，或开关机器";
        ChangesMounts: "changes what is mounted", "更改挂载";
        RunsLater: "leaves something that runs later", "留下以后才运行的任务";
        ChangesNetwork: "changes the network", "更改网络";
        ChangesUsers: "changes who may use the machine", "更改谁可以使用这台机器";
        ChangesKernel: "changes the kernel or how it starts", "更改内核或其启动方式";
        ChangesPackages: "changes the machine's packages", "更改系统软件包";
        ChangesPrograms: "changes which programs run", "更改实际运行的程序";
        LeavesContainer: "leaves its container", "越出容器";
        MountsMachine: "mounts the machine into a container", "把本机挂载进容器";
        ChangesContainers: "changes containers or reaches into them", "更改容器或进入容器";
        ChangesCluster: "changes a cluster", "更改集群";
        ChangesInfrastructure: "changes infrastructure", "更改基础设施";
        ChangesMachines: "changes other machines", "更改其他机器";
        ChangesCloud: "changes a cloud", "更改云上资源";
        ReadsCredentials: "reads credentials", "读取凭据";
        ReadsCredentialsOrHistory: "reads credentials or history", "读取凭据或历史记录";
        RevealsKeys: "changes or reveals keys", "更改或泄露密钥";
        SettingsNameCommands: "runs with settings that can name commands", "所用设置可以指定要运行的命令";
        ChangesDestination: "changes where it sends work or which commands it runs", "更改推送去向或所运行的命令";
        RunsArgument: "runs a command of its arguments", "运行参数中给出的命令";
        OverwritesRemote: "overwrites or deletes on the other side", "覆盖或删除远端内容";
        ThrowsAway: "throws work away", "丢弃已有的工作";
        ChangesHistory: "changes settings or history, or runs commands", "更改设置或历史，或运行命令";
        ChangesRepositoryHome: "changes a repository's home", "更改代码托管平台上的内容";
        Publishes: "publishes or changes what is published", "发布内容，或更改已发布的内容";
        RunsArgumentOrLeaves: "runs a command of its arguments or leaves the folder", "运行参数中给出的命令，或越出文件夹";
        Edits: "is an editor, which can run commands", "是编辑器，可以运行命令";
        ListensToNetwork: "listens to the network", "监听网络";
        ProbesMachines: "probes other machines", "探测其他机器";
        UnreadDatabase: "works on a database with orders that are not read here", "操作数据库，而其指令不在此处解析";
        LoadsCode: "loads code", "加载代码";
        RunsOrWrites: "runs commands or writes files", "运行命令或写入文件";
        SourcesFile: "runs a file in this shell", "在当前 shell 中运行文件";
        ChangesMeaning: "changes what later commands mean", "更改后续命令的含义";
        ChangesVariables: "changes the variables of later commands", "更改后续命令的变量";
        CodeLater: "runs code that is only known when it runs", "所运行的代码要到运行时才知道";
        CodeOnLine: "runs code given on the line", "运行命令行中给出的代码";
        RunsGiven: "runs whatever it is given", "运行交给它的任何内容";
        RunsInput: "runs whatever is written to its input", "运行写入其标准输入的任何内容";
        TouchesCredentials: "touches credentials or history", "涉及凭据或历史记录";
        OpensConnection: "opens a network connection", "打开网络连接";
        ChangesGuarded: "changes a file that decides what runs or what is asked", "改动决定运行什么或询问什么的文件";
        TouchesStartup: "touches files that run by themselves", "涉及会自动运行的文件";
    }
}

phrases! {
    /// Why a shell line, or a command in it, cannot be read for certain.
    Doubt {
        TooLong: "the line is too long to judge", "命令行过长，无法判断";
        TooDeep: "the line is nested too deep to follow", "命令行嵌套过深，无法跟踪";
        ControlCharacters: "the line holds control characters", "命令行含有控制字符";
        Unparsed: "the line does not parse", "命令行无法解析";
        Stray: "part of the line does not belong to any command", "命令行有一部分不属于任何命令";
        HiddenInPattern: "a pattern may hide a substitution", "模式中可能藏有替换";
        LongDescriptor: "a long file descriptor is a word to sh", "过长的文件描述符在 sh 看来是一个词";
        OddGap: "something between two words is not plain space", "两个词之间不是普通空格";
        WordsUnclear: "it is unclear where one word ends and the next begins", "无法确定一个词在哪里结束、下一个从哪里开始";
        OddBlank: "a word holds an unusual blank", "词中含有不寻常的空白";
        StringEndsEarly: "a `$'…'` string may end earlier than it seems", "`$'…'` 字符串可能比看上去更早结束";
        HiddenInString: "a string may hide a substitution", "字符串中可能藏有替换";
        RunsVariable: "`${…@P}` runs what the variable holds", "`${…@P}` 会运行变量中的内容";
        HiddenInExpansion: "a `${…}` may hide a substitution", "`${…}` 中可能藏有替换";
        ReadTwice: "backticks with escapes are read twice", "带转义的反引号会被解读两次";
        NoComment: "a `#` inside a word is no comment", "词中的 `#` 不是注释";
        HereDocumentEnd: "it is unclear where a here-document ends", "无法确定 here-document 在哪里结束";
        HiddenInHereDocument: "a here-document may hide a substitution", "here-document 中可能藏有替换";
        ShellsTooDeep: "shells are nested too deep to follow", "shell 嵌套过深，无法跟踪";
        WrappersTooDeep: "wrappers are nested too deep to follow", "包装命令嵌套过深，无法跟踪";
        Arithmetic: "`((…))` is arithmetic for bash and a subshell for sh", "`((…))` 在 bash 中是算术，在 sh 中是子 shell";
        WordAfterBoth: "a word after `&>` is a command to sh", "`&>` 之后的词在 sh 看来是一条命令";
        WordsWithoutCommand: "words after a redirection belong to no command", "重定向之后的词不属于任何命令";
        InnerUnclear: "it is unclear where the command it runs begins", "无法确定它所运行的命令从哪里开始";
        InnerLater: "what it runs is only known when it runs", "它运行什么要到运行时才知道";
        TooManyWords: "a list in braces becomes more words than can be judged", "花括号列表展开后的词多得无法判断";
        TooManyValues: "it uses a variable that more values were set after than can be judged", "它用到一个变量，其后设置的值多得无法判断";
        ListClimbs: "a list in braces that climbs through `..` leads elsewhere in another shell", "含有 `..` 的花括号列表在别的 shell 里指向另一处";
        InnerInput: "it runs whatever is written to its input", "它会运行写入其标准输入的任何内容";
    }
}

phrases! {
    /// What is wrong with a path, or special about the place it leads to.
    PathConcern {
        Outside: "it is outside the workspace", "位于工作区之外";
        Secrets: "it holds secrets", "其中存有机密";
        RunsInGit: "git runs or obeys what is written there", "git 会运行或遵从写入那里的内容";
        RunsAtStart: "a shell or tool runs it when it starts", "shell 或工具启动时会运行它";
        RunsInCi: "continuous integration runs what is written there", "持续集成会运行写入那里的内容";
        RunsInBuild: "a build or a tool runs what is written there", "构建或工具会运行写入那里的内容";
        SteersAgents: "it decides what an agent or editor may do unasked", "它决定智能体或编辑器可以不经询问做什么";
        DriveLetter: "a drive letter means a place on another system", "盘符指的是另一种系统上的位置";
        Url: "it is a URL and not a path", "这是 URL，不是路径";
        Backslash: "a backslash separates folders on some systems and not on others", "反斜杠在有的系统上分隔文件夹，在有的系统上不是";
        NoHome: "there is no home folder to start from", "没有可作为起点的主目录";
        OtherHome: "it starts in another user's home folder", "起点在其他用户的主目录";
        Empty: "it is empty", "路径为空";
        ControlCharacters: "it contains control characters", "含有控制字符";
        FileUrl: "it is a `file:` URL, which programs open in different places", "这是 `file:` URL，不同程序打开的位置不同";
    }
}

phrases! {
    /// Why an address is not simply some public host.
    AddressConcern {
        HandsOutCredentials: "it hands out the machine's own credentials", "它会交出本机自身的凭据";
        ThisMachine: "it is this machine", "它就是本机";
        ThisNetwork: "it is this machine or network", "它是本机或本网络";
        Private: "it is a private address", "这是私有地址";
        Shared: "it is a shared address of a provider", "这是运营商的共享地址";
        LinkLocal: "it is a link-local address", "这是链路本地地址";
        Reserved: "it is a reserved address", "这是保留地址";
        Multicast: "it is a multicast or reserved address", "这是组播或保留地址";
        Disguised: "it is an IPv4 address in disguise", "这是伪装的 IPv4 地址";
    }
}

phrases! {
    /// What clients read differently in a URL.
    UrlOddity {
        Backslash: "backslash", "含有反斜杠";
        OuterSpace: "leading or trailing control or space character are ignored in URLs", "首尾的控制字符或空格会被忽略";
        TabOrNewline: "tabs or newlines are ignored in URLs", "制表符和换行会被忽略";
        NoSlashes: "expected //", "缺少 //";
        Credentials: "embedding authentication information (username or password) in an URL is not recommended", "URL 中嵌有用户名或密码";
        AtSign: "unencoded @ sign in username or password", "用户名或密码中有未编码的 @";
    }
}
