/** The console in a browser, operated by the texts that the screens show. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { TestBrowser } from './browser';
import { eventually } from './eventually';
import { shareOf } from './extent';
import { ADMIN_KEY, type StartOptions, TestPlinth } from './plinth';

export const CONSOLE_DIST = path.resolve(__dirname, '../../console/dist');
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** @throws Error with the remedy if `npm test` did not build the console */
export function assertConsoleBuilt(): void {
  if (existsSync(path.join(CONSOLE_DIST, 'index.html'))) return;
  throw new Error('The console was not built: npm ci --prefix console && npm run build --prefix console');
}

/** Limit in milliseconds for loading a page, which takes seconds on a busy machine. */
const LOADED_MS = 20_000;

const OVERFLOWING = `(() => {
  // A message slides in from outside the page, and out again.
  const isClipped = (node) => {
    if (node.closest('.mantine-Notifications-root')) return true;
    for (let one = node.parentElement; one; one = one.parentElement)
      if (getComputedStyle(one).overflowX !== 'visible') return true;
    return false;
  };
  const found = [...document.querySelectorAll('body *')].filter((node) => {
    const { width, right } = node.getBoundingClientRect();
    return width > 0 && right > innerWidth + 1 && getComputedStyle(node).visibility !== 'hidden' && !isClipped(node);
  });
  const { scrollWidth } = document.documentElement;
  return [...(scrollWidth > innerWidth ? ['page ' + scrollWidth] : []), ...found.map((node) => node.outerHTML.slice(0, 150))];
})()`;

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

/** Waits for animations, because elements that fade in have too little contrast. */
const SETTLED = `Promise.allSettled(document.getAnimations()
  .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
  .map(({ finished }) => finished)).then(() => undefined)`;

const SCHEMES = ['dark', 'light'] as const;

export class ConsolePage {
  private turn = 0;

  constructor(
    readonly page: Page,
    private readonly baseUrl: string,
  ) {}

  /** @param path of a screen that the sign-in leads to; without it, to the projects */
  async signIn(path = ''): Promise<void> {
    await this.page.goto(`${this.baseUrl}/console${path === '' ? '' : `/${path}`}`);
    // Servers with staff accounts offer the key as an alternative.
    const byKey = this.page.getByRole('button', { name: 'Use the platform admin key' });
    const key = this.page.getByLabel('Platform admin key', { exact: true });
    await byKey.or(key).first().waitFor();
    if (await byKey.isVisible()) await byKey.click();
    await key.fill(ADMIN_KEY);
    await this.button('Sign in').click();
    if (path === '') await this.page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
  }

  /** Goes to a screen of a project without a reload, which would forget the key. */
  open(slug: string, screen: string): Promise<void> {
    return this.openPath(`projects/${slug}${screen === '' ? '' : `/${screen}`}`);
  }

  /** Like open(), for any screen, such as `audit-log`. */
  async openPath(path: string): Promise<void> {
    const url = JSON.stringify(`/console/${path}`);
    await this.page.evaluate(
      `history.pushState({}, '', ${url}); dispatchEvent(new PopStateEvent('popstate', { state: {} }));`,
    );
  }

  /** Waits until a screen has loaded its initial data. @param loading label of the loading indicator */
  async loaded(loading = 'Loading'): Promise<void> {
    const main = this.page.locator('#main');
    await main.getByRole('heading').or(main.locator('.cm-content')).first().waitFor();
    const status = this.page.getByRole('status', { name: loading });
    await eventually(async () => expect(await status.count()).toBe(0), LOADED_MS);
  }

  /** Elements that extend beyond the right edge of the page and cannot be scrolled into view. */
  overflowing(): Promise<string[]> {
    return this.page.evaluate(OVERFLOWING);
  }

  button(name: string | RegExp) {
    return this.page.getByRole('button', { name, exact: true });
  }

  dialog() {
    return this.page.getByRole('dialog');
  }

  /** Fails if a footer is below the edge of a low window. */
  async expectPinned(button: Locator): Promise<void> {
    const size = this.page.viewportSize();
    await this.page.setViewportSize({ width: 1280, height: 320 });
    await this.page.evaluate('window.scrollTo(0, 0)');
    await eventually(async () => {
      const { y, height } = (await button.boundingBox()) ?? { y: Infinity, height: 0 };
      expect(y + height).toBeLessThanOrEqual(320);
    });
    if (size) await this.page.setViewportSize(size);
  }

  /** Saves the changes of the grid, and waits until it has none, because a link before that asks for a confirmation. */
  async saveChanges(): Promise<void> {
    await this.button('Save changes').click();
    await this.page.getByText(/^Unsaved changes: \d+$/).waitFor({ state: 'detached' });
  }

  /** The rows of the grid that are in the page, without the header. */
  rows() {
    return this.page.getByRole('rowgroup').last().getByRole('row');
  }

  cell(text: string) {
    return this.page.getByRole('gridcell').filter({ hasText: text }).first();
  }

  /**
   * Fails if axe has serious findings. Retries, because elements that are opening have too little contrast.
   * @param without selectors of parts that are not ours
   */
  async expectAccessible(without: string[] = []): Promise<void> {
    await eventually(async () => expect(await this.seriousFindings(without)).toEqual([]), LOADED_MS);
  }

  /**
   * Calls expectAccessible() in both colour schemes in the soak, and otherwise in one of them by turns, because a check
   * takes a second. Ends in the light scheme.
   */
  async expectAccessibleInBothSchemes(): Promise<void> {
    this.turn += 1;
    for (const scheme of shareOf(SCHEMES, this.turn, 2)) {
      await this.showScheme(scheme);
      await this.expectAccessible();
    }
    await this.showScheme('light');
  }

  private async showScheme(colorScheme: 'dark' | 'light'): Promise<void> {
    await this.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await this.page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
  }

  /**
   * Findings of axe that make the page unusable for some people.
   * @param without selectors of parts that are not ours
   */
  async seriousFindings(without: string[] = []): Promise<string[]> {
    if (!(await this.page.evaluate(`'axe' in globalThis`))) await this.page.evaluate(AXE);
    await this.page.evaluate(SETTLED);
    const { violations } = await this.page.evaluate(
      (exclude) =>
        (globalThis as unknown as { axe: { run(...given: unknown[]): Promise<AxeResults> } }).axe.run(
          { exclude: exclude.map((one) => [one]) },
          // Without this, axe describes each element that passes.
          { resultTypes: ['violations'] },
        ),
      without,
    );
    return violations
      .filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
      );
  }
}

export interface RunningConsole {
  readonly plinth: TestPlinth;
  readonly browser: TestBrowser;
  readonly page: Page;
  readonly view: ConsolePage;
}

/** A Plinth, and a browser with an empty tab. stopConsole() ends both. */
export async function startConsole(options: StartOptions = {}): Promise<RunningConsole> {
  assertConsoleBuilt();
  const plinth = await TestPlinth.start(options);
  const browser = await TestBrowser.start();
  const page = await browser.newPage();
  return { plinth, browser, page, view: new ConsolePage(page, plinth.baseUrl) };
}

/** Works also after a failed start. */
export async function stopConsole({ browser, plinth }: Partial<RunningConsole>): Promise<void> {
  await browser?.stop();
  await plinth?.stop();
}
