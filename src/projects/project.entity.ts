/** Rows of the platform database. */
import { Column, CreateDateColumn, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import { Plan } from './plans';
import { ProjectSettingsInput } from './project-settings';

export type ProjectStatus = 'provisioning' | 'active' | 'deleting';

@Entity('projects')
export class ProjectEntity {
  @PrimaryColumn('text') id!: string;
  @Column('text') slug!: string;
  @Column('text') name!: string;
  @Column('text') plan!: Plan;
  @Column('text') status!: ProjectStatus;
  @Column('jsonb') settings!: ProjectSettingsInput;
  @Column('bytea', { name: 'server_url', nullable: true }) serverUrl!: Buffer | null;
  /** Name of the server in database_servers; null with its own URL. */
  @Column('text', { nullable: true }) server!: string | null;
  @Column('text', { name: 'database_name' }) databaseName!: string;
  @Column('text', { name: 'owner_role' }) ownerRole!: string;
  @Column('text', { name: 'login_role' }) loginRole!: string;
  @Column('bytea', { name: 'owner_password' }) ownerPassword!: Buffer;
  @Column('bytea', { name: 'login_password' }) loginPassword!: Buffer;
  @Column('bytea', { name: 'data_secret', nullable: true }) dataSecret!: Buffer | null;
  /** Encrypted; null where users' tokens are signed with the project's secret. */
  @Column('bytea', { name: 'signing_keys', nullable: true }) signingKeys!: Buffer | null;
  /** Encrypted; null for none. */
  @Column('bytea', { name: 's3_keys', nullable: true }) s3Keys!: Buffer | null;
  /** Encrypted; null for none. */
  @Column('bytea', { name: 'api_keys', nullable: true }) apiKeys!: Buffer | null;
  @Column('text', { name: 'schema_version' }) schemaVersion!: string;
  @Column('boolean') polled!: boolean;
  /** Null: the project serves requests. */
  @Column('timestamptz', { name: 'paused_at', nullable: true }) pausedAt!: Date | null;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz' }) updatedAt!: Date;
}

@Entity('project_secrets')
export class ProjectSecretEntity {
  @PrimaryColumn('text', { name: 'project_id' }) projectId!: string;
  @PrimaryColumn('text') kid!: string;
  @Column('bytea') secret!: Buffer;
  @Column('bytea', { name: 'storage_secret' }) storageSecret!: Buffer;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt!: Date | null;
}
