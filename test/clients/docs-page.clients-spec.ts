/** /docs in a real browser: the calls of a project succeed as they are prefilled. `npm test` tries some of them. */
import type { Locator, Page } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, TestBrowser } from '../support/browser';
import { type NamedOperation, type OpenApiDocument, operationsOf } from '../support/openapi';
import { TestPlinth } from '../support/plinth';
import { SAMPLE_SCHEMA } from '../support/sample-schema';
import type { TestProject } from '../support/test-project';

const LIMIT_MS = 600_000;

let plinth: TestPlinth;
let project: TestProject;
let browser: TestBrowser;
let page: Page;
let operations: readonly NamedOperation[];

/** Sends the request of an operation. @returns the status, with the answer if it is an error */
async function statusOf(block: Locator): Promise<string> {
  await block.locator('.opblock-summary-control').click();
  await block.locator('button.execute').click();
  const answered = block.locator('.live-responses-table tbody .response-col_status').first();
  await answered.waitFor();
  const status = (await answered.textContent())?.trim() ?? '';
  const text = status < '400' ? '' : await block.locator('.live-responses-table').textContent();
  // Swagger UI becomes slow with many unfolded operations.
  await block.locator('.opblock-summary-control').click();
  return `${status} ${text}`;
}

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('the page /docs', () => {
  beforeAll(async () => {
    plinth = await TestPlinth.start();
    project = await plinth.createProject({ settings: { exposed_schemas: ['public', 'api'] } });
    await project.sql(SAMPLE_SCHEMA);
    // The rows that the examples refer to.
    await project.sql(`
      insert into customers (email) values ('a@example.com');
      insert into orders (id, customer_id) values (1, 1);
      insert into products (sku, price) values ('text', 1);
      insert into order_items (order_id, line, sku) values (1, 1, 'text');
    `);
    const document: OpenApiDocument = (await project.service.get(`/p/${project.slug}/openapi.json`)).body;
    operations = operationsOf(document);
    browser = await TestBrowser.start({ hosts: { 'plinth.test': new URL(plinth.baseUrl).host } });
    page = await browser.newPage();
    await page.goto('http://plinth.test/docs');
    await page.fill('input[name=key]', project.serviceKey);
    await page.click('#project button');
    await page.waitForSelector('#docs[data-shows=project]');
    await page.waitForSelector('#operations-orders-selectOrders');
  }, BROWSER_START_MS);
  afterAll(async () => {
    await browser?.stop();
    await plinth?.stop();
  });

  it(
    'sends what it has prefilled for each call of a table or function, and the call succeeds',
    async () => {
      const refused: string[] = [];
      const tables = operations.filter(({ path }) => path.includes('/rest/v1/'));
      for (const { name, path, operation } of tables) {
        const status = await statusOf(page.locator(`.opblock[id$="-${operation.operationId}"]`));
        // Keys may be taken, checks may ask for more, and the function `fail` raises an error.
        const isState = status.startsWith('409') || status.includes('23514') || path.endsWith('/fail');
        if (!status.startsWith('2') && !isState) refused.push(`${name}: ${status}`);
      }
      expect(tables.length).toBeGreaterThan(60);
      expect(refused).toEqual([]);
    },
    LIMIT_MS,
  );
});
