/** Lists multipart uploads that were neither completed nor aborted. The SDK has no paginator for them. */
import { ListMultipartUploadsCommand, type MultipartUpload, type S3Client } from '@aws-sdk/client-s3';

export async function* unfinishedUploads(
  client: S3Client,
  place: { Bucket: string; Prefix: string },
): AsyncGenerator<MultipartUpload> {
  let markers: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
  while (markers) {
    const page: {
      Uploads?: MultipartUpload[];
      IsTruncated?: boolean;
      NextKeyMarker?: string;
      NextUploadIdMarker?: string;
    } = await client.send(new ListMultipartUploadsCommand({ ...place, ...markers }));
    yield* page.Uploads ?? [];
    markers = page.IsTruncated
      ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
      : undefined;
  }
}
