/** Uploads that go on after a broken connection, and after the page was loaded again. */
import { Upload } from 'tus-js-client';
import { plinth } from './plinth';

const CHUNK_BYTES = 8 * 1024 * 1024;

/**
 * @param name path in the bucket `photos`
 * @param onProgress gets numbers from 0 to 1
 * @throws Error with the server's message
 */
export async function upload(file: File, name: string, onProgress: (share: number) => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const transfer = new Upload(file, {
      endpoint: `${import.meta.env.VITE_PLINTH_URL}/storage/v1/upload/resumable`,
      metadata: { bucketName: 'photos', objectName: name, contentType: file.type },
      chunkSize: CHUNK_BYTES,
      retryDelays: [0, 1000, 3000, 5000, 10_000],
      uploadDataDuringCreation: true,
      removeFingerprintOnSuccess: true,
      // The client renews the session: a long upload outlives several tokens.
      async onBeforeRequest(request) {
        const { data } = await plinth.auth.getSession();
        request.setHeader('apikey', import.meta.env.VITE_ANON_KEY);
        request.setHeader('Authorization', `Bearer ${data.session?.access_token}`);
      },
      onProgress: (sent, total) => onProgress(sent / total),
      onError: reject,
      onSuccess: () => resolve(),
    });
    void transfer.findPreviousUploads().then(([previous]) => {
      if (previous) transfer.resumeFromPreviousUpload(previous);
      transfer.start();
    });
  });
}
