// From a tool's JSON Schema to the fields of a form: which field fits which argument. Pure; `parts/schema-form.js` draws.
//
// The server checks what is sent against the whole schema. Here only what makes a good field is read; whatever is too clever
// for a field is edited as JSON, never left out.

/** @typedef {'text' | 'lines' | 'number' | 'boolean' | 'choice' | 'texts' | 'object' | 'secret' | 'json'} FieldKind */

/**
 * @typedef {object} Field
 * @property {string} name
 * @property {FieldKind} kind
 * @property {boolean} required
 * @property {string} [description]
 * @property {unknown[]} [choices]
 * @property {boolean} [integer]
 * @property {number} [min]
 * @property {number} [max]
 * @property {unknown} schema
 */

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The type a schema or, without one, a value has. */
function typeOf(schema, value) {
  const types = [schema?.type ?? []].flat().filter((type) => type !== 'null');
  if (types.length === 1) return types[0];
  if (types.length > 1) return 'mixed';
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'mixed';
  return { string: 'string', number: 'number', boolean: 'boolean', object: 'object' }[typeof value] ?? 'mixed';
}

/** @returns {FieldKind} */
function kindOf(schema, value) {
  if (Array.isArray(schema?.enum) && schema.enum.every((choice) => !isObject(choice))) return 'choice';
  switch (typeOf(schema, value)) {
    case 'string':
      if (schema?.writeOnly === true || schema?.format === 'password') return 'secret';
      if (value !== undefined && typeof value !== 'string') return 'json';
      return schema?.format === 'multiline' || /\n/.test(value ?? '') || (value ?? '').length > 60 ? 'lines' : 'text';
    case 'number':
    case 'integer':
      return value === undefined || typeof value === 'number' ? 'number' : 'json';
    case 'boolean':
      return value === undefined || typeof value === 'boolean' ? 'boolean' : 'json';
    case 'array':
      return allTexts(schema, value) ? 'texts' : 'json';
    case 'object':
      return isObject(value ?? {}) && (schema?.properties || isObject(value)) ? 'object' : 'json';
    default:
      return 'json';
  }
}

function allTexts(schema, value) {
  const saysSo = schema?.items ? schema.items.type === 'string' && !schema.items.enum : true;
  return (
    saysSo && (value ?? []).every((item) => typeof item === 'string') && (schema?.items || (value ?? []).length > 0)
  );
}

/**
 * The fields of an object: those the schema names, in its order, then those only the value has.
 * @param {any} schema of the object; may be missing
 * @param {Record<string, unknown>} value
 * @returns {Field[]}
 */
export function fieldsOf(schema, value) {
  const properties = isObject(schema?.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema?.required) ? schema.required : []);
  const named = Object.keys(properties);
  const extra = Object.keys(value ?? {}).filter((name) => !Object.hasOwn(properties, name));
  return [...named, ...extra].map((name) => {
    const own = isObject(properties[name]) ? properties[name] : {};
    const current = Object.hasOwn(value ?? {}, name) ? value[name] : undefined;
    return {
      name,
      kind: kindOf(own, current),
      required: required.has(name),
      description: typeof own.description === 'string' ? own.description : undefined,
      choices: own.enum,
      integer: own.type === 'integer',
      min: own.minimum,
      max: own.maximum,
      schema: own,
    };
  });
}

/** A copy of `object` with `name` set, or taken out when `value` is undefined. Works for any name, `__proto__` included. */
export function withField(object, name, value) {
  const entries = Object.entries(object ?? {});
  const at = entries.findIndex(([key]) => key === name);
  if (value === undefined) return Object.fromEntries(entries.filter(([key]) => key !== name));
  if (at < 0) entries.push([name, value]);
  else entries[at] = [name, value];
  return Object.fromEntries(entries);
}

/** Whether two JSON values are the same, whatever the order of their keys. */
export function same(a, b) {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => same(item, b[at]));
  if (isObject(a) && isObject(b)) {
    const [keysA, keysB] = [Object.keys(a), Object.keys(b)];
    return keysA.length === keysB.length && keysA.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
  }
  return a === b;
}

/** Parses a text as the arguments of a call; `error` says why it cannot be. */
export function parseArgs(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { error: error.message };
  }
  return isObject(value) ? { value } : { error: 'object' };
}
