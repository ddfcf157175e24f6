/**
 * More concurrent sign-ins than hashing threads: the queue is short, a full queue refuses immediately, and other
 * requests and sign-ins to another project are served.
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
      const signIns = Array.from({ length: LINE + THREADS + 40 }, () =>
        client.post(`${project.auth}/login`, { email, password }),
      );
      // The first refusal comes long before the queue is empty.
      const first = await Promise.race(
        signIns.map(async (one) => {
          const answer = await one;
          if (answer.status !== 429) await Promise.all(signIns);
          return answer;
        }),
      );
      let signedIn = 0;
      for (const one of signIns)
        void one.then(({ status: signIn }) => {
          if (signIn === 200) signedIn += 1;
        });
      const { status } = await neighbour
        .client(neighbour.anonKey, null)
        .post(`${neighbour.auth}/login`, { email: other.email, password: other.password });
      expect(status).toBe(200);
      // This sign-in came when the queue was full, and was served among the first.
      expect(signedIn).toBeLessThan(LINE / 2);
      for (let n = 0; n < 20; n += 1) expect((await user.http.get('/rest/v1/notes')).status).toBe(200);
      // Rows do not wait for the queue.
      expect(signedIn).toBeLessThan(LINE);
      const all = await Promise.all(signIns);
      expect(first.status).toBe(429);
      expect(Number(first.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(first.body).toEqual({ detail: expect.any(String), status_code: 429 });
      const statuses = all.map((answer) => answer.status);
      expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(20);
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(LINE);
      expect(statuses.every((status) => status === 200 || status === 429)).toBe(true);
    } finally {
      await plinth.stop();
    }
  },
  60_000,
);
