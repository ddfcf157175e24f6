// Compares two OpenAPI documents and names the changes that break clients, or the code that was generated for them.
// A request breaks when it may contain less or must contain more; an answer breaks when it may contain other things.

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'];

/**
 * @param {any} before an OpenAPI 3.1 document
 * @param {any} after
 * @returns {{ breaking: string[], other: string[] }} one line each, in the order of the documents
 */
export function openApiChanges(before, after) {
  const report = { breaking: [], other: [] };
  for (const [name, old] of operations(before)) {
    const now = operations(after).get(name);
    if (!now) report.breaking.push(`${name}: removed`);
    else compareOperation({ name, before, after, report }, old, now);
  }
  for (const name of operations(after).keys()) {
    if (!operations(before).has(name)) report.other.push(`${name}: added`);
  }
  for (const name of Object.keys(before.components?.schemas ?? {})) {
    if (!after.components?.schemas?.[name]) report.breaking.push(`schema ${name}: removed or renamed`);
  }
  return report;
}

function operations({ paths }) {
  return new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      METHODS.filter((method) => item[method]).map((method) => [
        `${method.toUpperCase()} ${path}`,
        item[method],
      ]),
    ),
  );
}

function compareOperation(context, old, now) {
  const { name, before, after, report } = context;
  if (old.operationId !== now.operationId) {
    report.breaking.push(`${name}: operationId ${old.operationId} is now ${now.operationId}`);
  }
  compareParameters(context, old, now);
  compareBodies(context, resolve(before, old.requestBody), resolve(after, now.requestBody));
  for (const [status, response] of Object.entries(old.responses)) {
    const other = resolve(after, now.responses[status]);
    const where = `${name} ${status}`;
    if (!other) report.breaking.push(`${where}: the status is no longer documented`);
    else compareContent(context, 'response', where, resolve(before, response).content, other.content);
  }
  for (const status of Object.keys(now.responses)) {
    if (!old.responses[status]) report.other.push(`${name} ${status}: added`);
  }
}

function compareParameters(context, old, now) {
  const { name, before, after, report } = context;
  const byName = (document, { parameters = [] }) =>
    new Map(parameters.map((one) => resolve(document, one)).map((one) => [`${one.in} ${one.name}`, one]));
  const olds = byName(before, old);
  const nows = byName(after, now);
  for (const [key, parameter] of olds) {
    const other = nows.get(key);
    const where = `${name} ${key}`;
    if (!other) report.breaking.push(`${where}: removed`);
    else {
      if (other.required && !parameter.required) report.breaking.push(`${where}: now required`);
      compareSchema(
        { ...context, direction: 'request', seen: new Set() },
        where,
        parameter.schema,
        other.schema,
      );
    }
  }
  for (const [key, { required }] of nows) {
    if (!olds.has(key))
      report[required ? 'breaking' : 'other'].push(
        `${name} ${key}: added${required ? ', and required' : ''}`,
      );
  }
}

function compareBodies(context, old, now) {
  const { name, report } = context;
  if (old && !now) report.breaking.push(`${name} body: removed`);
  if (now?.required && !old?.required) report.breaking.push(`${name} body: now required`);
  if (old && now) compareContent(context, 'request', `${name} body`, old.content, now.content);
}

function compareContent(context, direction, where, old = {}, now = {}) {
  for (const [type, media] of Object.entries(old)) {
    if (!now[type]) context.report.breaking.push(`${where} ${type}: removed`);
    else
      compareSchema(
        { ...context, direction, seen: new Set() },
        `${where} ${type}`,
        media.schema,
        now[type].schema,
      );
  }
}

function compareSchema(context, where, oldNode = {}, nowNode = {}) {
  const { before, after, direction, seen, report } = context;
  const pair = `${oldNode.$ref}|${nowNode.$ref}`;
  if (oldNode.$ref && seen.has(pair)) return;
  seen.add(pair);
  const old = resolve(before, oldNode);
  const now = resolve(after, nowNode);
  if (!old || !now) return;
  const isRequest = direction === 'request';
  const lost = (was, is) => was.filter((one) => !is.includes(one));
  const types = (schema) => [schema.type ?? []].flat();
  // A request may still contain everything that it could; an answer contains nothing that it could not.
  const [wide, narrow] = isRequest ? [types(old), types(now)] : [types(now), types(old)];
  const widened = wide.filter((one) => one !== 'integer' || !narrow.includes('number'));
  if (narrow.length > 0 && (wide.length === 0 || lost(widened, narrow).length > 0)) {
    report.breaking.push(
      `${where}: type ${types(old).join('|') || 'any'} is now ${types(now).join('|') || 'any'}`,
    );
  }
  const values = isRequest
    ? lost(old.enum ?? [], now.enum ?? old.enum ?? [])
    : lost(now.enum ?? [], old.enum ?? now.enum ?? []);
  for (const value of values) {
    report.breaking.push(
      `${where}: ${JSON.stringify(value)} is ${isRequest ? 'no longer accepted' : 'a new value'}`,
    );
  }
  compareMembers(context, where, old, now);
  if (old.items || now.items) compareSchema(context, `${where}[]`, old.items, now.items);
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    for (const [index, one] of (old[keyword] ?? []).entries()) {
      const other = now[keyword]?.[index];
      if (other) compareSchema(context, where, one, other);
      else report.breaking.push(`${where}: an alternative was removed`);
    }
  }
}

function compareMembers(context, where, old, now) {
  const { direction, report } = context;
  const isRequest = direction === 'request';
  for (const [member, schema] of Object.entries(old.properties ?? {})) {
    const other = now.properties?.[member];
    if (!other) report.breaking.push(`${where}.${member}: removed`);
    else compareSchema(context, `${where}.${member}`, schema, other);
  }
  for (const member of isRequest ? (now.required ?? []) : (old.required ?? [])) {
    const isSame = isRequest ? old.required?.includes(member) : now.required?.includes(member);
    if (!isSame && (isRequest || now.properties?.[member])) {
      report.breaking.push(`${where}.${member}: ${isRequest ? 'now required' : 'no longer always present'}`);
    }
  }
}

function resolve(document, node) {
  if (typeof node?.$ref !== 'string') return node;
  const [, , section, name] = node.$ref.split('/');
  return resolve(document, document.components?.[section]?.[name]);
}
