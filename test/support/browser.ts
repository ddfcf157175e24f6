/**
 * A real browser for tests: Debian's chromium. Its tests are skipped if it is not installed (CI installs it). Without a window,
 * as the headless shell, it takes half of the processor time.
 */
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const COMPLETE = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(runnable);
const EXECUTABLE = ['/usr/bin/chromium-headless-shell'].find(runnable) ?? COMPLETE;

export const hasBrowser = EXECUTABLE !== undefined;
/** Whether TestBrowser.start({ isComplete: true }) finds one. */
export const hasCompleteBrowser = COMPLETE !== undefined;

/** Milliseconds for the start of a browser: the first start of a profile takes seconds on a busy machine. */
export const BROWSER_START_MS = 60_000;

/** No background requests, no first-run pages, no sandbox (CI runs as root). */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface BrowserOptions {
  /**
   * Names that the browser resolves to this machine: with `{'plinth.test': '127.0.0.1:1234'}` http://plinth.test leads to
   * that port. Other names do not resolve, so no request reaches the internet.
   */
  readonly hosts?: Record<string, string>;
  /** False turns JavaScript off. Default: true. */
  readonly javaScript?: boolean;
  /** Chromium itself, with all that the headless shell lacks, such as the viewer for PDF files. Default: false. */
  readonly isComplete?: boolean;
}

/** Requests and errors of a browser. */
export interface Observed {
  /** Method and URL of every request. */
  readonly requests: string[];
  /** Errors and warnings of the console, and uncaught exceptions. Violations of the CSP appear only here. */
  readonly complaints: string[];
}

export class TestBrowser {
  readonly observed: Observed = { requests: [], complaints: [] };

  private constructor(
    private readonly context: BrowserContext,
    private readonly profile: string,
  ) {}

  /** Starts a browser with a new profile, which has no cookies and no cache. */
  static async start({
    hosts = {},
    javaScript = true,
    isComplete = false,
  }: BrowserOptions = {}): Promise<TestBrowser> {
    const profile = mkdtempSync(join(tmpdir(), 'plinth-browser-'));
    const rules = Object.entries(hosts).map(([name, address]) => `MAP ${name} ${address}`);
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: isComplete ? COMPLETE : EXECUTABLE,
      headless: true,
      javaScriptEnabled: javaScript,
      // Drawing animations takes a fifth of the processor time of a test of the console.
      reducedMotion: 'reduce',
      timeout: BROWSER_START_MS,
      args: [
        ...ARGUMENTS,
        `--host-resolver-rules=${[...rules, 'MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1'].join(',')}`,
      ],
    });
    const browser = new TestBrowser(context, profile);
    browser.observe();
    return browser;
  }

  /** A new tab. */
  newPage(): Promise<Page> {
    return this.context.newPage();
  }

  /** Forgets all requests and complaints that were observed so far. */
  forget(): void {
    this.observed.requests.length = 0;
    this.observed.complaints.length = 0;
  }

  async stop(): Promise<void> {
    await this.context.close();
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  private observe(): void {
    const { requests, complaints } = this.observed;
    this.context.on('request', (request) => requests.push(`${request.method()} ${request.url()}`));
    this.context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    this.context.on('weberror', (error) => complaints.push(String(error.error())));
  }
}

function runnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Adds a virtual authenticator whose user agrees to everything. */
export async function addAuthenticator(page: Page): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('WebAuthn.enable');
  await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
