/**
 * The cost of pictures, measured alternately: a new picture compared with sharp alone, and a stored picture compared
 * with a download of its size.
 */
import sharp from 'sharp';
import { TestPlinth } from '../support/plinth';

const ROUNDS = 15;
let plinth: TestPlinth;
beforeAll(async () => {
  plinth = await TestPlinth.start();
});
afterAll(() => plinth.stop());

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

it('is close to sharp for a new picture, and to a download for a stored picture', async () => {
  const project = await plinth.createProject({ plan: 'enterprise' });
  const base = `${plinth.baseUrl}/p/${project.slug}/storage/v1`;
  const headers = { apikey: project.serviceKey, authorization: `Bearer ${project.serviceKey}` };
  const get = async (path: string): Promise<Buffer> => {
    const response = await fetch(`${base}/${path}`, { headers });
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  };
  const upload = (name: string, body: Buffer): Promise<Response> =>
    fetch(`${base}/object/box/${name}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'image/jpeg' },
      body: new Uint8Array(body),
    });
  await fetch(`${base}/bucket`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'box' }),
  });
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  const background = { r: 128, g: 128, b: 128 };
  // Soft noise compresses about as well as a photo.
  const photo = await sharp({ create: { width: 4_000, height: 3_000, channels: 3, background, noise } })
    .blur(2)
    .jpeg()
    .toBuffer();
  await upload('photo.jpg', photo);
  const path = 'render/image/authenticated/box/photo.jpg?width=';
  const kept = await get(`${path}800`);
  await upload('same-size.jpg', kept);
  const [first, alone, hits, downloads]: number[][] = [[], [], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const width = 801 + round;
    first?.push(await timed(() => get(`${path}${width}`)));
    alone?.push(await timed(() => sharp(photo).autoOrient().resize({ width }).jpeg().toBuffer()));
    for (let again = 0; again < 10; again += 1) {
      hits?.push(await timed(() => get(`${path}800`)));
      downloads?.push(await timed(() => get('object/authenticated/box/same-size.jpg')));
    }
  }
  const [made, bare, hit, download] = [first, alone, hits, downloads].map((values) => median(values ?? []));
  const ratios = [(made ?? 0) / (bare ?? 1), (hit ?? 0) / (download ?? 1)].map((ratio) => ratio.toFixed(2));
  process.stdout.write(
    `pictures: ${photo.length} bytes; first ${made?.toFixed(0)} ms, sharp ${bare?.toFixed(0)} ms: ${ratios[0]}; ` +
      `kept ${hit?.toFixed(2)} ms, download ${download?.toFixed(2)} ms: ${ratios[1]}\n`,
  );
  expect(Number(ratios[0])).toBeLessThan(1.3);
}, 600_000);
