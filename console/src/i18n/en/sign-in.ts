/** The texts of sign-in, set-up and invitations, in English. */
export const signIn = {
  adminKey: 'Platform admin key',
  adminKeyHint: 'It stays in the memory of this page.',
  adminKeyWhere:
    'The first start writes it to platform-admin-key in the data directory, unless PLATFORM_ADMIN_KEY sets it.',
  adminKeyWrong: 'This is not the key of this install.',
  factorCode: 'Code of the second factor',
  invitationText: 'Choose a name and a password to accept the invitation.',
  invitationTitle: 'Welcome to Plinth',
  setupNeeded:
    'This installation has no owner yet. Open the set-up link that the server printed when it started.',
  setupText: 'You become the first owner of this install.',
  setupTitle: 'Set up Plinth',
  directoryLogin: 'Name in the directory',
  signIn: 'Sign in',
  signInAsPerson: 'Sign in with e-mail and password',
  signInByKey: 'Use the platform admin key',
  signInTitle: 'Sign in to Plinth',
  start: 'Create account',
} as const;
