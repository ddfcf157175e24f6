/** Checks the settings of an archived project as the admin API checks the settings of a request. */
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { isTooLargeToCheck } from '../../common/text/json';
import { mergeSettings, ProjectSettingsInput } from '../../projects/project-settings';
import { archiveInvalid } from '../backup.errors';
import { SECRETS } from './archive-format';

/**
 * A version that restricts the values of a setting must convert older values here, because archives cannot be edited.
 * @throws AppError 400 that names the settings, also those that this version does not know
 */
export function validSettings(given: object): ProjectSettingsInput {
  if (isTooLargeToCheck(given)) throw archiveInvalid(`settings in ${SECRETS} have too many members`);
  const settings = plainToInstance(ProjectSettingsInput, given);
  const errors = validateSync(settings, {
    whitelist: true,
    forbidNonWhitelisted: true,
    stopAtFirstError: true,
  });
  if (errors.length > 0) throw archiveInvalid(`settings in ${SECRETS}: ${errors.map(messageOf).join('; ')}`);
  return mergeSettings({}, settings);
}

function messageOf({ property, constraints = {} }: ValidationError): string {
  const [kind, message] = Object.entries(constraints)[0] ?? [];
  return kind === 'whitelistValidation'
    ? `${property} is not a setting of this version`
    : (message ?? `${property} is not valid`);
}
