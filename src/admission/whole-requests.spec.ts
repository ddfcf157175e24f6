import { WholeRequests } from './whole-requests.service';

const LARGE = 1024 * 1024;

describe('large requests', () => {
  it('run one at a time for a tenant, next to those of other tenants', async () => {
    const admission = new WholeRequests();
    const running: string[] = [];
    let most = 0;
    const work = (name: string) => async () => {
      running.push(name);
      expect(new Set(running).size).toBe(running.length);
      most = Math.max(most, running.length);
      await new Promise(setImmediate);
      running.splice(running.indexOf(name), 1);
    };
    await Promise.all(['a', 'a', 'a', 'b'].map((name) => admission.runRequest(name, work(name))));
    expect(most).toBe(2);
  });

  it('of a flood are refused with Retry-After, and a small script runs immediately', async () => {
    const admission = new WholeRequests();
    let end = (): void => undefined;
    const first = admission.runScript('a', LARGE, () => new Promise<void>((resolve) => (end = resolve)));
    const flood = Array.from({ length: 60 }, () => admission.runRequest('a', () => Promise.resolve()));
    const outcomes = Promise.allSettled(flood);
    await expect(admission.runScript('a', 100, () => Promise.resolve('ran'))).resolves.toBe('ran');
    end();
    await first;
    const refused = (await outcomes).filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(10);
    expect(refused[0]).toMatchObject({ reason: { status: 503, headers: { 'Retry-After': '2' } } });
  });

  it('leave the queue when their client disconnects, or the wait takes too long', async () => {
    jest.useFakeTimers();
    const admission = new WholeRequests();
    let end = (): void => undefined;
    const first = admission.runRequest('a', () => new Promise<void>((resolve) => (end = resolve)));
    const client = new AbortController();
    const refused = { status: 503 };
    const left = expect(
      admission.runRequest('a', () => Promise.resolve(), client.signal),
    ).rejects.toMatchObject(refused);
    const late = expect(admission.runRequest('a', () => Promise.resolve())).rejects.toMatchObject(refused);
    client.abort();
    jest.advanceTimersByTime(60_000);
    await Promise.all([left, late]);
    end();
    await first;
    await expect(admission.runRequest('a', () => Promise.resolve('ran'))).resolves.toBe('ran');
    jest.useRealTimers();
  });
});
