/** Opens the bodies of requests, within the memory that all bodies share. */
import { Injectable } from '@nestjs/common';
import { BodyReader } from '../../../http/bodies/body-reader';
import { formOfBytes, type UploadForm } from '../../files/upload';
import { fileTooLarge } from '../../storage.errors';
import { MAX_WAITING } from '../multipart-form';
import { S3Body } from './s3-body';
import type { S3Call } from './s3-call';
import { parseXml, type XmlElement } from './xml';

/** Maximum bytes of a document: enough for a list of ten thousand parts with their checksums. */
const MAX_XML = 2 * 1024 * 1024;
/** Bytes of memory for each byte of a document. */
const XML_MULTIPLE = 8;

@Injectable()
export class S3Bodies {
  constructor(private readonly bodies: BodyReader) {}

  /**
   * @param held number of bytes of the file that the provider holds in memory
   * @throws AppError 400 for invalid headers, 501 for an unsupported encoding, 503 if there is no memory
   */
  async openFile(call: S3Call, held: number): Promise<UploadForm> {
    const body = this.bodyOf(call, true);
    const memory = await this.bodies.reserve(
      call.request,
      Math.min(body.length ?? Infinity, held + MAX_WAITING),
    );
    return formOfBytes(body.bytes(), call.request.get('content-type') ?? null, {
      etag: () => body.digest().toString('hex'),
      end: (sha256) => body.assertSound(sha256),
      release: () => memory.release(),
    });
  }

  /** Like openFile(), for bytes that no upload measures. */
  async openPart(
    call: S3Call,
    held: number,
  ): Promise<{ readonly body: S3Body; readonly release: () => void }> {
    const body = this.bodyOf(call, false);
    const memory = await this.bodies.reserve(
      call.request,
      Math.min(body.length ?? Infinity, held + MAX_WAITING),
    );
    return { body, release: () => memory.release() };
  }

  /** @throws AppError 400, 408, 503 */
  async readXml(call: S3Call, root: string): Promise<XmlElement> {
    const body = this.bodyOf(call, false);
    const memory = await this.bodies.reserve(
      call.request,
      XML_MULTIPLE * Math.min(body.length ?? MAX_XML, MAX_XML),
    );
    try {
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of body.bytes()) {
        size += chunk.length;
        if (size > MAX_XML) throw fileTooLarge(MAX_XML);
        chunks.push(chunk);
      }
      await body.assertSound();
      return await parseXml(Buffer.concat(chunks), root);
    } finally {
      memory.release();
    }
  }

  private bodyOf({ request, payload, signer }: S3Call, isHashed: boolean): S3Body {
    return new S3Body(request, this.bodies.pace, payload, { signer, isHashed });
  }
}
