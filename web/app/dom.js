// The one way this page makes elements: names, attributes, text. Never markup from a string, so nothing an agent writes can
// become an element (the server's policy asks for trusted types besides).

const SVG = 'http://www.w3.org/2000/svg';

/**
 * Makes an element: `h('button.primary', { type: 'button', onclick }, 'Approve')`.
 * Attributes that are `false`, `null` or `undefined` are left out; `true` is an empty attribute.
 * @param {string} selector tag and classes
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Node|string|number|null|undefined|false|Array)} children text becomes text, nothing else
 * @returns {HTMLElement}
 */
export function h(selector, attributes, ...children) {
  const [tag, ...classes] = selector.split('.');
  const element = document.createElement(tag || 'div');
  if (classes.length) element.className = classes.join(' ');
  return furnish(element, attributes, children);
}

/** The same for SVG. */
export function svg(tag, attributes, ...children) {
  return furnish(document.createElementNS(SVG, tag), attributes, children);
}

function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith('on') && typeof value === 'function') {
      element.addEventListener(name.slice(2), value);
    } else if (name === 'class') {
      element.classList.add(...String(value).split(' ').filter(Boolean));
    } else if (name === 'value' || name === 'checked' || name === 'disabled' || name === 'hidden' || name === 'open') {
      element[name] = value;
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  element.append(...flat(children));
  return element;
}

function flat(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false && child !== '');
}

/** Replaces everything inside `parent`. */
export function fill(parent, ...children) {
  parent.replaceChildren(...flat(children));
  return parent;
}

/**
 * Brings `parent` to hold exactly `nodes`, in order, moving only what must move, so that the focus stays.
 * @param {Element} parent
 * @param {Node[]} nodes
 */
export function arrange(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.childNodes]) {
    if (!wanted.has(child)) child.remove();
  }
  let next = parent.firstChild;
  for (const node of nodes) {
    if (node === next) {
      next = next.nextSibling;
    } else {
      parent.insertBefore(node, next);
    }
  }
}

let lastId = 0;

/** An id no other element has, to tie a label to its field. */
export function freshId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}
