/** Plinth connects by Unix socket to the embedded PostgreSQL. */
import { answerOf, expectCancelled, newSocketProject, restOf } from '../support/socket-project';
import { plinth } from './install';

export const unixSocket = (): void =>
  it("requests use the embedded server's socket, and other clients get its TCP address", async () => {
    const project = await newSocketProject(plinth.admin);
    expect((await restOf(project).get('/rpc/from_where')).body).toBe('socket');
    expect(project.database.host).toBe('127.0.0.1');
    expect(project.database.owner_url).toContain(`@127.0.0.1:${project.database.port}/`);
    expect(await answerOf(project.database.owner_url, 'select host(inet_client_addr()) as answer')).toBe(
      '127.0.0.1',
    );
    await expectCancelled(project);
  }, 120_000);
