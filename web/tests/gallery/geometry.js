// Runs in the page: what of a request can be read without scrolling, and what lies on top of something else.

/** @returns {{ text: string, reason: string, faults: string[], wide: number }} */
export function measure() {
  const faults = [];
  const box = (element) => element.getBoundingClientRect();
  const answer = document.querySelector('[data-answer]');
  const question = document.querySelector('.question');
  const top = Math.max(0, box(document.querySelector('.question-frame')).top);
  const fold = Math.min(innerHeight, box(answer).top);
  // Everything that stands whole between the top of the request and its answer.
  let text = '';
  const walker = document.createTreeWalker(question, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const lines = [...range.getClientRects()];
    const isRead = lines.length > 0 && lines[0].top >= top - 1 && lines[0].bottom <= fold + 1;
    if (isRead) text += node.data;
    text += /^(p|h\d|li|div|dd|dt|td|th|pre)$/i.test(node.parentElement.tagName) ? ' ' : '';
  }
  const why = document.querySelector('.why-asked');
  const reason = why && box(why).height > 0 && box(why).bottom <= fold + 1 ? why.innerText : '';
  const name = (element) => `${element.tagName.toLowerCase()}.${element.className}`;
  const overlap = (a, b) => {
    const [first, second] = [box(a), box(b)];
    const across = Math.min(first.right, second.right) - Math.max(first.left, second.left);
    const down = Math.min(first.bottom, second.bottom) - Math.max(first.top, second.top);
    return across > 1 && down > 1;
  };
  // Siblings never share a place; bars that stay on the screen are allowed above what scrolls.
  for (const parent of [
    document.querySelector('.top'),
    document.querySelector('.pane-bar'),
    question,
    document.querySelector('.question-header'),
    document.querySelector('.question-meta'),
    answer,
    ...answer.querySelectorAll('.buttons'),
    ...question.querySelectorAll('.blocks'),
  ]) {
    const children = [...(parent?.children ?? [])].filter(
      (child) =>
        child.checkVisibility() && box(child).width > 0 && box(child).height > 0 && !child.matches('.visually-hidden'),
    );
    children.forEach((child, at) => {
      for (const other of children.slice(at + 1))
        if (overlap(child, other)) faults.push(`${name(child)} lies on ${name(other)}`);
    });
  }
  const bars = [document.querySelector('.top'), answer];
  if (overlap(...bars)) faults.push('the answer lies on the header');
  if (box(answer).bottom > innerHeight + 1) faults.push('the answer is below the screen');
  for (const button of answer.querySelectorAll('button')) {
    if (button.checkVisibility() && button.scrollWidth > button.clientWidth + 1)
      faults.push(`“${button.innerText}” does not fit its button`);
  }
  return { text: text.replace(/[`\s]+/g, ' '), reason, faults, wide: document.documentElement.scrollWidth };
}
