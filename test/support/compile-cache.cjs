// Preloaded into the Plinth of process tests. Node 20 looks for the 3,000 modules of each process and compiles them anew, which is half
// of a start; here it takes paths, sources and V8's code from a file. The first process of a run writes the file that
// PLINTH_TEST_COMPILE_CACHE names, when it ends.
const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { isMainThread } = require('node:worker_threads');
const v8 = require('node:v8');
const { Script } = require('node:vm');

const FILE = process.env.PLINTH_TEST_COMPILE_CACHE;
/** What src/main.ts and this file change. V8 takes code only under the flags that it was made under. */
const DEFAULT_FLAGS = ['--allocation-site-pretenuring', '--heap-growing-percent=0', '--flush-bytecode'];
const known = existsSync(FILE) ? read() : null;
const compiled = new Map();
const resolved = known?.resolved ?? new Map();

if (!known && isMainThread) {
  // The functions of a start are not called again, and V8 would forget them.
  v8.setFlagsFromString('--no-flush-bytecode');
  process.once('exit', write);
}

const resolve = Module._resolveFilename;
Module._resolveFilename = (request, parent, ...rest) => {
  if (!parent?.path || rest[1]) return resolve(request, parent, ...rest);
  const key = `${parent.path}\0${request}`;
  const found = resolved.get(key) ?? resolve(request, parent, ...rest);
  if (!known) resolved.set(key, found);
  return found;
};

const load = Module._extensions['.js'];
Module._extensions['.js'] = (module, filename) => {
  const kept = known?.modules.get(filename);
  if (!kept) return load(module, filename);
  run(module, filename, new Script(kept.source(), { filename, cachedData: kept.code() }));
};

const compile = Module.prototype._compile;
Module.prototype._compile = function (content, filename, ...rest) {
  const script = known ? null : scriptOf(content, filename);
  if (!script) return compile.call(this, content, filename, ...rest);
  compiled.set(filename, script);
  run(this, filename, script.script);
};

function run(module, filename, script) {
  const directory = filename.slice(0, filename.lastIndexOf('/'));
  script
    .runInThisContext()
    .call(module.exports, module.exports, requireOf(module), module, filename, directory);
}

/**
 * @returns null for an ES module, which Node can require() as well, and for one that may call import(), itself or in code that it
 * makes: the code that V8 keeps has no loader for it
 */
function scriptOf(content, filename) {
  if (/\b(import|new Function)\(/.test(content)) return null;
  try {
    const source = Module.wrap(content);
    return { source, script: new Script(source, { filename }) };
  } catch {
    return null;
  }
}

function requireOf(module) {
  const require = (id) => module.require(id);
  require.resolve = (request, options) => Module._resolveFilename(request, module, false, options);
  require.resolve.paths = (request) => Module._resolveLookupPaths(request, module);
  return Object.assign(require, {
    main: process.mainModule,
    extensions: Module._extensions,
    cache: Module._cache,
  });
}

/** The file begins with the length of its list: paths, and for each module the lengths of its source and code, which follow. */
function write() {
  for (const flag of DEFAULT_FLAGS) v8.setFlagsFromString(flag);
  const modules = [];
  const parts = [];
  for (const [name, { source, script }] of compiled) {
    // One byte a character where the source allows it.
    const encoding = /^[\0-\xff]*$/.test(source) ? 'latin1' : 'utf8';
    const [text, code] = [Buffer.from(source, encoding), script.createCachedData()];
    modules.push([name, encoding, text.length, code.length]);
    parts.push(text, code);
  }
  const list = Buffer.from(JSON.stringify({ modules, paths: [...resolved] }));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(list.length);
  writeFileSync(`${FILE}.${process.pid}`, Buffer.concat([size, list, ...parts]));
  renameSync(`${FILE}.${process.pid}`, FILE);
}

function read() {
  const bytes = readFileSync(FILE);
  let at = 4 + bytes.readUInt32LE();
  const { modules, paths } = JSON.parse(bytes.toString('utf8', 4, at));
  const take = (length) => bytes.subarray(at, (at += length));
  const entries = modules.map(([name, encoding, sourceBytes, codeBytes]) => {
    const [text, code] = [take(sourceBytes), take(codeBytes)];
    return [name, { source: () => text.toString(encoding), code: () => code }];
  });
  return { modules: new Map(entries), resolved: new Map(paths) };
}
