/** English. */
import { LanguageTexts, linkMail, noticeMail } from './language';

const GREETING = 'Hello {{ name }},';
const FRAME = {
  greeting: GREETING,
  enterToken: 'Or enter this token where you are asked for it:',
  validity: 'It is valid for {{ hours }} hour{% if hours != 1 %}s{% endif %} and works once.',
};

export const ENGLISH: LanguageTexts = {
  tag: 'en',
  mails: {
    reset: linkMail(FRAME, {
      subject: 'Reset your password for {{ project }}',
      intro: 'Somebody, probably you, asked for a new password for your account at {{ project }}.',
      open: 'Open this address to choose one:',
      button: 'Choose a new password',
      end: 'If it was not you, ignore this mail: your password stays as it is.',
    }),
    verify: linkMail(FRAME, {
      subject: 'Confirm your email address for {{ project }}',
      intro: 'Please confirm that {{ email }} is your address.',
      open: 'Open this address to do so:',
      button: 'Confirm the address',
      end: 'If you did not sign up at {{ project }}, ignore this mail: somebody else chose the password of that account.',
    }),
    email_change: linkMail(FRAME, {
      subject: 'Confirm your new email address for {{ project }}',
      intro: 'Please confirm that {{ email }} is to become the new address of your account at {{ project }}.',
      open: 'Open this address to do so:',
      button: 'Confirm the new address',
      end: 'If it was not you, ignore this mail: nothing changes.',
    }),
    email_change_notice: noticeMail(GREETING, 'Your email address for {{ project }} is about to change', [
      'The address of your account at {{ project }} is about to change to {{ new_email }}.',
      'If it was not you, change your password now.',
    ]),
    invite: linkMail(FRAME, {
      subject: 'You are invited to {{ project }}',
      intro: 'An account at {{ project }} was created for you.',
      open: 'Open this address to choose a password:',
      button: 'Choose a password',
      end: 'If you did not expect this, ignore this mail.',
    }),
    magic_link: linkMail(FRAME, {
      subject: 'Sign in to {{ project }}',
      intro: 'Somebody, probably you, wants to sign in to {{ project }} as {{ email }}.',
      open: 'Open this address to sign in:',
      button: 'Sign in',
      end: 'If it was not you, ignore this mail: nobody is signed in.',
    }),
    new_device: noticeMail(GREETING, 'A new sign-in to {{ project }}', [
      'Your account at {{ project }} was signed in to from a device that it did not know.',
      'Time: {{ signed_in_at }}',
      'Address: {{ ip }}',
      'Client: {{ client }}',
      'If it was not you, change your password now.',
    ]),
    reauthentication: noticeMail(GREETING, 'Your code for {{ project }}', [
      'Your code for {{ project }} is {{ code }}.',
      'If you did not ask for it, change your password now.',
    ]),
  },
  pages: {
    reset: {
      title: 'Choose a new password',
      label: 'New password',
      button: 'Save the password',
      done: 'Your password has been changed. You can sign in with it now.',
    },
    verify: {
      title: 'Confirm your email address',
      label: 'Your password: the one that you signed up with, or a new one',
      button: 'Confirm',
      done: 'Your email address has been confirmed.',
      noPassword:
        'Your email address has been confirmed. The account has no password now: ask for one where you sign in.',
    },
    link: {
      title: 'Link an account',
      button: 'Link',
      done: 'The account has been linked.',
    },
    signIn: {
      title: 'Sign in',
      button: 'Sign in',
      done: 'You are signed in.',
    },
    invalidToken: 'This link is not valid or no longer valid. Ask for a new mail.',
    tooShort: 'The password must have at least {min} characters.',
    tooLong: 'The password is too long.',
    tooCommon: 'This password is one of the most common ones. Choose another one.',
    failed: 'That did not work. Try again in a moment.',
  },
};
