/** The console in a browser: what a person does there, in the words of the screens. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { ADMIN_KEY } from './plinth';

export const CONSOLE_DIST = path.resolve(__dirname, '../../console/dist');
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** @throws Error with the remedy if `npm test` did not build the console */
export function assertConsoleBuilt(): void {
  if (existsSync(path.join(CONSOLE_DIST, 'index.html'))) return;
  throw new Error('The console was not built: npm ci --prefix console && npm run build --prefix console');
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

export class ConsolePage {
  constructor(
    readonly page: Page,
    private readonly baseUrl: string,
  ) {}

  async signIn(): Promise<void> {
    await this.page.goto(`${this.baseUrl}/console`);
    // Servers that know people offer the key as the other way.
    const byKey = this.page.getByRole('button', { name: 'Use the platform admin key' });
    const key = this.page.getByLabel('Platform admin key', { exact: true });
    await byKey.or(key).first().waitFor();
    if (await byKey.isVisible()) await byKey.click();
    await key.fill(ADMIN_KEY);
    await this.button('Sign in').click();
    await this.page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
  }

  /** Goes to a screen of a project without a reload, which would forget the key. */
  async open(slug: string, screen: string): Promise<void> {
    const url = JSON.stringify(`/console/projects/${slug}${screen === '' ? '' : `/${screen}`}`);
    await this.page.evaluate(
      `history.pushState({}, '', ${url}); dispatchEvent(new PopStateEvent('popstate', { state: {} }));`,
    );
  }

  button(name: string | RegExp) {
    return this.page.getByRole('button', { name, exact: true });
  }

  dialog() {
    return this.page.getByRole('dialog');
  }

  cell(text: string) {
    return this.page.getByRole('gridcell').filter({ hasText: text }).first();
  }

  /** Findings of axe that keep people from using the page. @param without a selector of foreign parts */
  async seriousFindings(without: string[] = []): Promise<string[]> {
    await this.page.evaluate(AXE);
    const { violations } = await this.page.evaluate(
      (exclude) =>
        (globalThis as unknown as { axe: { run(context: unknown): Promise<AxeResults> } }).axe.run({
          exclude: exclude.map((one) => [one]),
        }),
      without,
    );
    return violations
      .filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
      );
  }
}
