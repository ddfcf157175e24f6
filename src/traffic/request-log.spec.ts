import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { EndedRequest } from './ended-request';
import { requestLogger } from './request-log.service';

const ENDED: EndedRequest = {
  beganAt: 1_767_225_600_000,
  project: { id: 'k3v9', slug: 'acme' },
  method: 'GET',
  path: '/p/acme/storage/files/secret.txt?token=***',
  role: 'anon',
  status: 200,
  ms: 12.345,
  databaseMs: 3.21,
  bytes: 512,
};

function lineOf(ended: EndedRequest, route?: string): Record<string, unknown> {
  let text = '';
  const request = Object.assign(new IncomingMessage(new Socket()), { route: route && { path: route } });
  requestLogger({ write: (line) => void (text += line) })(ended, request as never);
  expect(text.split('\n')).toHaveLength(2);
  return JSON.parse(text) as Record<string, unknown>;
}

it('logs the route instead of the path, and times in milliseconds', () => {
  expect(lineOf(ENDED, '/p/:project_slug/storage/files/:file_id')).toEqual({
    level: 30,
    time: expect.any(String) as unknown,
    msg: 'request',
    request_id: null,
    method: 'GET',
    route: '/p/:project_slug/storage/files/:file_id',
    project: 'acme',
    project_id: 'k3v9',
    role: 'anon',
    status: 200,
    ms: 12.3,
    ms_database: 3.2,
    bytes: 512,
  });
});

it('logs null for unknown values', () => {
  const line = lineOf({ ...ENDED, project: null, role: null, databaseMs: null });
  expect(line).toMatchObject({ route: null, project: null, project_id: null, role: null, ms_database: null });
});
