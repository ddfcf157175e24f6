/** The texts of the first steps, of the dialog that connects an application, and of the navigation, in English. */
export const connect = {
  connect: 'Connect',
  connectText:
    'A client needs the project URL and the anon key. Row-level security decides which rows the client can read and change.',
  connectTitle: 'Connect to {name}',
  databaseRefused: 'Your role may not read the database URL. Ask a developer of this project.',
  keysRefused:
    'Your role may not read the keys. Ask a developer of this project, and replace ANON_KEY with the anon key.',
  projectUrl: 'Project URL',
  psqlText: 'The database URL is the connection of the database owner. It is not limited by policies.',

  firstSteps: 'First steps',
  firstStepsText: 'The backend of an application in four steps.',
  hideSteps: 'Hide steps',
  step_table: 'Create a table',
  stepText_table: 'With its columns and a policy. The API serves it immediately.',
  step_row: 'Insert a row',
  stepText_row: 'In the grid, from a CSV file, or with SQL.',
  step_user: 'Create a user',
  stepText_user: 'Create or invite one, or let users sign up.',
  step_connect: 'Connect your application',
  stepText_connect: 'The URL, the keys and code for your language.',

  group_auth: 'Auth',
  group_data: 'Data',
  group_observe: 'Observe',
  group_project: 'Project',
  logs: 'Logs',
  metrics: 'Metrics',
  signInSettings: 'Sign-in',
  team: 'Team',

  keysScreenText: 'The two keys of the API, its URLs, and the connection to the database.',
  backupsNotSetUp: 'Scheduled backups are not set up',
  backupsNotSetUpText:
    'Set BACKUP_PASSPHRASE or BACKUP_PASSPHRASE_FILE for the server and restart it. Backups can be downloaded without it.',
  backupsRefused: 'Your role may not read or make backups of this project.',
  schedulesOfOperators: 'Operators of the installation schedule backups. You can download one at any time.',
  scheduleSaved: 'Backup schedule of {name} saved',
  invitedWithoutMail:
    'The invitation was created, but no mail server is set up. Ask an operator for the link: the mail is a file in the data directory of the server.',
  userInvited: 'An invitation was sent to {email}',
  userInvitedWithoutMail:
    'No mail server is set up: the invitation for {email} is a file in the folder mail of the data directory, and the log of the server shows its link.',
  userCreated: 'User {email} created',
} as const;
