import { MemoryBudget, type Reservation, type Sender } from './memory-budget';

const TOTAL = 1_200;
const WAIT_TIMEOUT_MS = 1_000;

const of = (account: string, address = '192.0.2.1'): Sender => ({ account, address });

let budget: MemoryBudget;
beforeEach(() => {
  jest.useFakeTimers();
  budget = new MemoryBudget({ total: TOTAL, waitTimeoutMs: WAIT_TIMEOUT_MS, maxWaiting: 3 });
});
afterEach(() => jest.useRealTimers());

/** Reserves memory that must be free without waiting. */
function reserved(sender: Sender, bytes: number): Reservation {
  const memory = budget.reserve(sender, bytes);
  if (memory instanceof Promise) throw new Error('there is no free memory');
  return memory;
}

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

/** Reserves pieces until no memory is free. @returns bytes */
async function fill(sender: Sender, piece = 10): Promise<number> {
  let bytes = 0;
  for (;;) {
    const memory = budget.reserve(sender, piece);
    if (memory instanceof Promise) {
      const refused = expect(memory).rejects.toMatchObject({ status: 503 });
      await jest.advanceTimersByTimeAsync(WAIT_TIMEOUT_MS);
      await refused;
      return bytes;
    }
    bytes += piece;
  }
}

describe('a reservation', () => {
  it('takes at most half of all for one client, two thirds for a project, four fifths for an address', async () => {
    expect(await fill(of('a'))).toBe(TOTAL / 2);
    budget = new MemoryBudget({ total: TOTAL, waitTimeoutMs: WAIT_TIMEOUT_MS, maxWaiting: 3 });
    let project = 0;
    for (let n = 0; n < 50; n += 1) project += await fill(of('a', `192.0.2.${n}`));
    expect(project).toBe((TOTAL * 2) / 3);
    budget = new MemoryBudget({ total: TOTAL, waitTimeoutMs: WAIT_TIMEOUT_MS, maxWaiting: 3 });
    let address = 0;
    for (let n = 0; n < 50; n += 1) address += await fill(of(`project ${n}`));
    expect(address).toBe((TOTAL * 4) / 5);
  });

  it('leaves memory for every further project', async () => {
    for (let n = 0; n < 6; n += 1)
      expect(await fill(of(`project ${n}`, `192.0.2.${n}`), 1)).toBeGreaterThan(0);
  });

  it('returns all memory when it is released', () => {
    const memories = [reserved(of('a'), 100), reserved(of('b'), 200), reserved(of(''), 1)];
    memories[1]?.grow(50);
    expect(budget.stats().reserved).toBe(351);
    for (const memory of memories) {
      memory.release();
      memory.release();
    }
    expect(budget.stats()).toEqual({ reserved: 0, waiting: 0 });
    reserved(of('a'), TOTAL / 2);
  });

  it('is refused with 413 if the body could never fit', () => {
    expect(thrownBy(() => budget.reserve(of('a'), TOTAL / 2 + 1))).toMatchObject({ status: 413 });
    const memory = reserved(of('a'), 1);
    expect(thrownBy(() => memory.grow(TOTAL / 2))).toMatchObject({ status: 413 });
    expect(budget.stats().reserved).toBe(1);
  });

  it('is admitted alone whatever its size where that is allowed, and leaves the rest to small ones', async () => {
    const limits = { total: TOTAL, waitTimeoutMs: WAIT_TIMEOUT_MS, maxWaiting: 3 };
    budget = new MemoryBudget({ ...limits, perReservation: Infinity, admitsAnyAlone: true });
    const large = reserved(of('a'), TOTAL * 0.9);
    const other = of('b', '192.0.2.2');
    reserved(other, TOTAL / 20).release();
    const next = budget.reserve(other, TOTAL * 2);
    expect(next).toBeInstanceOf(Promise);
    large.release();
    (await next).release();
  });

  it('does not grow into memory that is left for others', () => {
    reserved(of('b'), TOTAL / 3);
    const memory = reserved(of('a'), 1);
    expect(thrownBy(() => memory.grow(TOTAL / 2 - 10))).toMatchObject({
      status: 503,
      headers: { 'Retry-After': '2' },
    });
    expect(budget.stats().reserved).toBe(TOTAL / 3 + 1);
  });
});

describe('the line', () => {
  it('admits requests as memory becomes free, those of one client in order of arrival', async () => {
    const held = reserved(of('a'), 600);
    const order: string[] = [];
    const [large, small] = [budget.reserve(of('a'), 500), budget.reserve(of('a'), 1)];
    void Promise.resolve(large).then(() => order.push('large'));
    void Promise.resolve(small).then(() => order.push('small'));
    const other = budget.reserve(of('b', '192.0.2.2'), 100);
    expect(other).not.toBeInstanceOf(Promise);
    expect(budget.stats().waiting).toBe(2);
    held.release();
    await Promise.all([large, small]);
    expect(order).toEqual(['large', 'small']);
    expect(budget.stats()).toEqual({ reserved: 601, waiting: 0 });
  });

  it('admits small bodies after a large body before them was refused', async () => {
    const held = reserved(of('a'), 500);
    const large = expect(budget.reserve(of('a'), 400)).rejects.toMatchObject({ status: 503 });
    await jest.advanceTimersByTimeAsync(WAIT_TIMEOUT_MS / 2);
    const small = budget.reserve(of('a'), 10);
    expect(small).toBeInstanceOf(Promise);
    await jest.advanceTimersByTimeAsync(WAIT_TIMEOUT_MS / 2);
    await large;
    (await small).release();
    held.release();
    expect(budget.stats()).toEqual({ reserved: 0, waiting: 0 });
  });

  it('refuses requests that exceed its length or its timeout', async () => {
    reserved(of('a'), 600);
    const waiting = [1, 2, 3].map(() => expect(budget.reserve(of('a'), 10)).rejects.toThrow());
    await expect(budget.reserve(of('a'), 10)).rejects.toMatchObject({ status: 503 });
    expect(budget.stats().waiting).toBe(3);
    await jest.advanceTimersByTimeAsync(WAIT_TIMEOUT_MS);
    await Promise.all(waiting);
    expect(budget.stats().waiting).toBe(0);
  });
});
