// What is wrong with edited arguments, by the tool's JSON Schema: every field at once. Pure; the server checks the whole schema.

import { same } from './json-schema.js';

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

const TYPES = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: isObject,
  null: (value) => value === null,
};

/**
 * @typedef {{ field: string, rule: string, limit?: string | number }} ArgFault
 *   `rule` is `required type choice min max minLength maxLength pattern unknown`
 */

/**
 * @param {any} schema may be missing; what it says beyond these rules is left to the server
 * @param {unknown} value
 * @returns {ArgFault[]}
 */
export function faultsOf(schema, value, field = '') {
  if (!isObject(schema)) return [];
  const types = [schema.type ?? []].flat();
  if (types.length && !types.some((type) => TYPES[type]?.(value) ?? true))
    return [{ field, rule: 'type', limit: types.join(', ') }];
  if (Array.isArray(schema.enum) && !schema.enum.some((choice) => same(choice, value)))
    return [{ field, rule: 'choice', limit: schema.enum.map(String).join(', ') }];
  if (typeof value === 'number') return limits(schema, field, value, 'minimum', 'maximum', 'min', 'max');
  if (typeof value === 'string')
    return [
      ...limits(schema, field, [...value].length, 'minLength', 'maxLength', 'minLength', 'maxLength'),
      ...pattern(schema, field, value),
    ];
  if (Array.isArray(value)) return value.flatMap((item, at) => faultsOf(schema.items, item, `${field}/${at}`));
  return isObject(value) ? inObject(schema, value, field) : [];
}

function limits(schema, field, size, least, most, tooLittle, tooMuch) {
  return [
    size < schema[least] && { field, rule: tooLittle, limit: schema[least] },
    size > schema[most] && { field, rule: tooMuch, limit: schema[most] },
  ].filter(Boolean);
}

function pattern(schema, field, value) {
  try {
    const fits = typeof schema.pattern !== 'string' || new RegExp(schema.pattern, 'u').test(value);
    return fits ? [] : [{ field, rule: 'pattern', limit: schema.pattern }];
  } catch {
    // A pattern of another dialect: the server knows it.
    return [];
  }
}

function inObject(schema, value, field) {
  const under = (name) => (field ? `${field}/${name}` : name);
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return [
    ...required.filter((name) => !Object.hasOwn(value, name)).map((name) => ({ field: under(name), rule: 'required' })),
    ...Object.entries(value).flatMap(([name, item]) => {
      if (Object.hasOwn(properties, name)) return faultsOf(properties[name], item, under(name));
      return schema.additionalProperties === false ? [{ field: under(name), rule: 'unknown' }] : [];
    }),
  ];
}
