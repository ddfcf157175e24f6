/** The key under which GuessThrottle counts the guesses at accounts of people. Ids of projects have 20 characters. */
export const STAFF_GUESSES = Object.freeze({ id: 'staff' });
