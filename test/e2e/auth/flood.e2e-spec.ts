/**
 * More concurrent sign-ins than hashing threads: the queue is short, a full queue refuses at once, others are served, and so are
 * sign-ins to another project.
 */
import { availableParallelism } from 'node:os';
import { TestPlinth } from '../../support/plinth';

const THREADS = Math.max(1, availableParallelism() - 1);
const LINE = THREADS * 50;
/** A machine with many cores would need more sockets than a test should open. */
const isTooLarge = LINE > 400;

(isTooLarge ? it.skip : it)(
  'refuses sign-ins with 429 and Retry-After when the queue is full, and keeps serving rows and sign-ins to other projects',
  async () => {
    const plinth = await TestPlinth.start({ tuning: { bcryptCost: 9 } });
    try {
      const project = await plinth.createProject();
      const user = await project.signUp();
      const neighbour = await plinth.createProject();
      const other = await neighbour.signUp();
      await project.sql('create table notes (id int); create policy everybody on notes using (true)');
      expect((await user.http.get('/rest/v1/notes')).status).toBe(200);
      const client = project.client(project.anonKey, null);
      const { email, password } = user;
      const begin = performance.now();
      const signIns = Array.from({ length: LINE + THREADS + 40 }, async () => {
        const answer = await client.post(`${project.auth}/login`, { email, password });
        return { answer, took: performance.now() - begin };
      });
      // The first refusal comes long before the queue is empty.
      const first = await Promise.race(
        signIns.map(async (one) => {
          const { answer, took } = await one;
          if (answer.status !== 429) await Promise.all(signIns);
          return { answer, took };
        }),
      );
      let signedIn = 0;
      for (const one of signIns)
        void one.then(({ answer }) => {
          if (answer.status === 200) signedIn += 1;
        });
      const { status } = await neighbour
        .client(neighbour.anonKey, null)
        .post(`${neighbour.auth}/login`, { email: other.email, password: other.password });
      expect(status).toBe(200);
      // It came when the queue was full, and was served among the first.
      expect(signedIn).toBeLessThan(LINE / 2);
      const rows: number[] = [];
      for (let n = 0; n < 20; n += 1) {
        const asked = performance.now();
        expect((await user.http.get('/rest/v1/notes')).status).toBe(200);
        rows.push(performance.now() - asked);
      }
      const all = await Promise.all(signIns);
      const slowest = Math.max(...all.map(({ took }) => took));
      expect(first.answer.status).toBe(429);
      expect(Number(first.answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(first.answer.body).toEqual({ detail: expect.any(String), status_code: 429 });
      expect(first.took).toBeLessThan(slowest / 2);
      const statuses = all.map(({ answer }) => answer.status);
      expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(20);
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(LINE);
      expect(statuses.every((status) => status === 200 || status === 429)).toBe(true);
      // Reading rows takes a fraction of the time that the queue needs.
      expect(Math.max(...rows)).toBeLessThan(slowest / 4);
    } finally {
      await plinth.stop();
    }
  },
  60_000,
);
