// The results of test files over several runs of Jest; a later run of a file replaces its earlier result.
import { readFileSync } from 'node:fs';

export class TestResults {
  /** @type {Map<string, { passed: number, failed: number, skipped: number }>} by the path of the test file */
  #files = new Map();

  /** Adds the report that Jest wrote with --json, if it wrote one. */
  addReport(reportFile) {
    for (const { name, status, assertionResults } of readReport(reportFile).testResults ?? []) {
      const count = (...wanted) => assertionResults.filter((test) => wanted.includes(test.status)).length;
      // A file that cannot be loaded has no tests. It counts as one failed test.
      const failed = count('failed') || (status === 'failed' ? 1 : 0);
      this.#files.set(name, { passed: count('passed'), failed, skipped: count('pending', 'todo') });
    }
  }

  /** @returns {string[]} the files of which a test failed in their last run */
  failedFiles() {
    return [...this.#files].filter(([, { failed }]) => failed > 0).map(([name]) => name);
  }

  /** @returns {{ passed: number, failed: number, skipped: number }} */
  totals() {
    const totals = { passed: 0, failed: 0, skipped: 0 };
    for (const file of this.#files.values()) for (const key of Object.keys(totals)) totals[key] += file[key];
    return totals;
  }
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}
