/**
 * Ceph's suite of the S3 protocol (github.com/ceph/s3-tests), unmodified, against S3_PORT. docs/reference/storage-s3.md says why tests are
 * left out. S3_TESTS_CHECKOUT names a checkout, S3_TESTS_PYTHON a Python with its requirements; without the former, the test is skipped.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TestPlinth } from '../support/plinth';
import { freePort } from '../support/plinth-process';

const CHECKOUT = process.env.S3_TESTS_CHECKOUT;
const PYTHON = process.env.S3_TESTS_PYTHON ?? 'python3';

const MARKS = `abac_test appendobject auth_aws2 bucket_encryption bucket_logging bucket_policy cloud_restore cloud_transition delete_marker
  encryption fails_on_aws iam_account iam_role iam_user lifecycle lifecycle_expiration lifecycle_transition object_lock object_ownership
  s3select s3website sns sse_s3 storage_class test_of_sts user_policy versioning webidentity_test`;
/** Parts of the names of omitted tests. */
const SUBJECTS = `versioning versioned object_lock acl policy post_object checksum cksum object_attributes access_bucket anon public logging
  torrent cors_ object_raw copy_not_owned create_bad bad_expect grant expected_bucket_owner current_object object_current owner
  get_part set_bucket_tagging amz_date`;
const TESTS = `test_bucket_list_prefix_unreadable test_object_write_cache_control test_object_write_expires
  test_object_set_get_unicode_metadata test_object_delete_key_bucket_gone test_object_content_encoding_aws_chunked
  test_bucket_create_exists test_bucket_get_location test_list_buckets_paginated test_bucket_recreate_not_overriding test_100_continue
  test_multipart_resend_first_finishes_last test_set_multipart_tagging test_put_excess_tags test_object_read_unreadable
  test_put_object_if_match test_multipart_put_object_if_match`;
const LEAST_PASSED = 180;

const not = (names: string): string => `not (${names.split(/\s+/).join(' or ')})`;

(CHECKOUT === undefined ? it.skip : it)(
  'passes the applicable tests',
  async () => {
    const port = await freePort();
    const plinth = await TestPlinth.start({ env: { S3_PORT: `127.0.0.1:${port}` } });
    const directory = mkdtempSync(join(tmpdir(), 'plinth-s3-tests-'));
    try {
      const sections = ['main', 'alt', 'tenant', 'iam', 'iam root', 'iam alt root'].map(async (name) => {
        const { id, slug } = await plinth.createProject({ plan: 'enterprise' });
        const { body: key } = await plinth.admin.post(`/admin/v1/projects/${id}/s3-keys`, {});
        return `[${name.startsWith('iam') ? name : `s3 ${name}`}]\ndisplay_name = ${slug}\nuser_id = ${slug}\nemail = ${slug}@example.com
api_name = us-east-1\ntenant = x\naccess_key = ${key.access_key_id}\nsecret_key = ${key.secret_access_key}\n`;
      });
      const configuration = join(directory, 's3tests.conf');
      writeFileSync(
        configuration,
        `[DEFAULT]\nhost = 127.0.0.1\nport = ${port}\nis_secure = False\nssl_verify = False\n[fixtures]\nbucket prefix = t{random}-\n${(await Promise.all(sections)).join('')}`,
      );
      const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--tb=line', '-m', not(MARKS)];
      const files = ['test_s3.py', 'test_headers.py'].map((name) => `s3tests/functional/${name}`);
      const selected = ['-k', not(`${SUBJECTS} ${TESTS}`)];
      const { stdout } = await promisify(execFile)(PYTHON, [...args, ...selected, ...files], {
        cwd: CHECKOUT,
        env: { ...process.env, S3TEST_CONF: configuration, PYTHONDONTWRITEBYTECODE: '1' },
        maxBuffer: 64 * 1024 * 1024,
      }).catch((error: { stdout?: string }) => ({ stdout: String(error.stdout) }));
      const summary = stdout.trim().split('\n').at(-1) ?? '';
      process.stdout.write(`s3-tests: ${summary}\n`);
      expect(stdout.split('\n').filter((line) => /^(FAILED|ERROR)/.test(line))).toEqual([]);
      expect(Number(/(\d+) passed/.exec(summary)?.[1])).toBeGreaterThanOrEqual(LEAST_PASSED);
    } finally {
      await plinth.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  },
  3_600_000,
);
