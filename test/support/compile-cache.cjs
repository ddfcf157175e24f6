// Preloaded into the Plinth of process tests. Node 20 looks for the 3,000 modules of each process and compiles them anew, which is half
// of a start; here it takes paths and V8's code from a file. The first process of a run writes the file that
// PLINTH_TEST_COMPILE_CACHE names.
const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const v8 = require('node:v8');
const { Script } = require('node:vm');

const FILE = process.env.PLINTH_TEST_COMPILE_CACHE;
const known = existsSync(FILE) ? read() : null;
const compiled = new Map();
const resolved = known?.resolved ?? new Map();

const resolve = Module._resolveFilename;
Module._resolveFilename = (request, parent, ...rest) => {
  if (!parent?.path || rest[1]) return resolve(request, parent, ...rest);
  const key = `${parent.path}\0${request}`;
  const found = resolved.get(key) ?? resolve(request, parent, ...rest);
  if (!known) resolved.set(key, found);
  return found;
};

const compile = Module.prototype._compile;
Module.prototype._compile = function (content, filename, ...rest) {
  const script = scriptOf(content, filename);
  if (!script) return compile.call(this, content, filename, ...rest);
  if (!known) compiled.set(filename, script);
  const directory = filename.slice(0, filename.lastIndexOf('/'));
  const run = script.runInThisContext();
  return run.call(this.exports, this.exports, requireOf(this), this, filename, directory);
};

/**
 * @returns null for an ES module, which Node can require() as well, and for one that may call import(), itself or in code that it
 * makes: the code that V8 keeps has no loader for it
 */
function scriptOf(content, filename) {
  if (/\b(import|new Function)\(/.test(content)) return null;
  try {
    return new Script(Module.wrap(content), {
      filename,
      cachedData: known?.code.get(filename),
    });
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

// V8 takes code only under the flags that it was made under, and Plinth sets some once its modules are loaded.
const { setFlagsFromString } = v8;
v8.setFlagsFromString = (flags) => {
  if (compiled.size > 0) write();
  known?.code.clear();
  setFlagsFromString(flags);
};

/** The file begins with the length of its list of paths, and of names and lengths. */
function write() {
  const code = [...compiled].map(([name, script]) => [name, script.createCachedData()]);
  compiled.clear();
  const lengths = code.map(([name, { length }]) => [name, length]);
  const list = Buffer.from(JSON.stringify({ lengths, paths: [...resolved] }));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(list.length);
  writeFileSync(`${FILE}.${process.pid}`, Buffer.concat([size, list, ...code.map(([, data]) => data)]));
  renameSync(`${FILE}.${process.pid}`, FILE);
}

function read() {
  const bytes = readFileSync(FILE);
  let at = 4 + bytes.readUInt32LE();
  const { lengths, paths } = JSON.parse(bytes.subarray(4, at).toString());
  const code = new Map(lengths.map(([name, length]) => [name, bytes.subarray(at, (at += length))]));
  return { code, resolved: new Map(paths) };
}
