/** The event loop soak tests the worst bodies of every documented operation with a body. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { operationsOf, type OpenApiDocument } from '../support/openapi';
import { hasBody, schemaOf, WITH_OWN_CASES, worstOperations } from '../support/worst-requests';

const SNAPSHOT = join(__dirname, '../snapshots/openapi/platform.yaml');
const SOAK = join(__dirname, '../soak/event-loop.soak-spec.ts');

describe('the soak of the event loop', () => {
  const document = load(readFileSync(SNAPSHOT, 'utf8')) as OpenApiDocument;
  const withBody = operationsOf(document).filter(({ operation }) => hasBody(operation));

  it('has worst bodies for each operation with a JSON body, and separate cases for each other operation', () => {
    const others = withBody.filter(({ operation }) => !schemaOf(document, operation)).map(({ name }) => name);
    expect(others.sort()).toEqual([...WITH_OWN_CASES].sort());
    const soak = readFileSync(SOAK, 'utf8');
    expect(others.filter((name) => !soak.includes(`'${name}'`))).toEqual([]);
  });

  it('sends bodies within the limit of most routes, which is 1 MiB', () => {
    const operations = worstOperations(document);
    expect(operations.length).toBe(withBody.length - WITH_OWN_CASES.size);
    for (const { bodies } of operations) {
      const lengths = Array.from(bodies(), ([, body]) => body.length);
      expect(lengths.length).toBeGreaterThan(15);
      expect(Math.max(...lengths)).toBeLessThanOrEqual(1024 * 1024);
    }
  });
});
