/** Compiles TypeScript of a test with the packages of this repository. */
import path from 'node:path';
import ts from 'typescript';

const ROOT = path.join(__dirname, '../..');
/** A folder that does not exist, because its files are in memory; packages are found in its parents. */
const FOLDER = path.join(ROOT, 'in-memory');

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  // The DOM is omitted because it doubles the time and the clients' types of rows do not need it.
  lib: ['lib.es2023.d.ts'],
  types: [],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  noEmit: true,
};

/** Parsed files of packages, which all compilations share. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/**
 * The compiler's errors, in the form `usage.ts:3 message`. A line after `// @ts-expect-error` that compiles is an error too.
 * @param files content by name
 */
export function compileFaults(files: Readonly<Record<string, string>>): string[] {
  const sources = new Map(Object.entries(files).map(([name, text]) => [path.join(FOLDER, name), text]));
  const disk = ts.createCompilerHost(OPTIONS);
  const host: ts.CompilerHost = {
    ...disk,
    getCurrentDirectory: () => FOLDER,
    directoryExists: (name) => name === FOLDER || ts.sys.directoryExists(name),
    fileExists: (name) => sources.has(name) || disk.fileExists(name),
    readFile: (name) => sources.get(name) ?? disk.readFile(name),
    getSourceFile: (name, languageVersion) => {
      const text = sources.get(name);
      if (text !== undefined) return ts.createSourceFile(name, text, languageVersion);
      if (!parsed.has(name)) parsed.set(name, disk.getSourceFile(name, languageVersion));
      return parsed.get(name);
    },
  };
  const program = ts.createProgram([...sources.keys()], OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
    const message = ts.flattenDiagnosticMessageText(messageText, ' ');
    return `${file ? path.basename(file.fileName) : ''}:${line} ${message}`;
  });
}

/** Fails to compile unless both types are the same: `type _1 = Same<A, B>`. */
export const SAME = `
type Same<A, B extends (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? unknown : never> = B;
`;
