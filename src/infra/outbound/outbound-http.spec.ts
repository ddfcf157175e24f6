import { OutboundHttp } from './outbound-http';

it('resolves host names outside the thread pool, so that slow name servers do not delay files or passwords', async () => {
  const sent = new OutboundHttp([]).send('https://provider.invalid/', {}, { timeoutMs: 200 });
  const failed = sent.catch((error: unknown) => error);
  await new Promise((resolve) => process.nextTick(resolve));
  expect(process.getActiveResourcesInfo()).not.toContain('GetAddrInfoReqWrap');
  expect(await failed).toBeInstanceOf(Error);
});

it.each(['https://localhost/', 'https://127.0.0.1/', 'https://[::1]/', 'http://example.com/'])(
  'sends nothing to %s',
  async (url) => {
    await expect(new OutboundHttp([]).send(url)).rejects.toThrow();
  },
);
