/** Whether the address of a person is proved, and invitations of several inviters to one address. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS = `
  -- By the link of a mail, or by an issuer. Null: whoever knows the password may be somebody else.
  alter table staff_people add column email_verified_at timestamptz;
  -- False: the link was shown to the inviter.
  alter table staff_invitations add column mailed boolean not null default false;
  alter table staff_invitations drop constraint staff_invitations_email_key_key;
  create unique index staff_invitations_address on staff_invitations (email_key, coalesce(invited_by::text, ''));
`;

export class StaffProvedAddresses1790000000480 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COLUMNS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index staff_invitations_address;
      delete from staff_invitations i using staff_invitations j where i.email_key = j.email_key and i.id > j.id;
      alter table staff_invitations drop column mailed, add constraint staff_invitations_email_key_key unique (email_key);
      alter table staff_people drop column email_verified_at`);
  }
}
