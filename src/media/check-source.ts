/** Checks where media is to be read from, as far as that takes no reading: 400 names the field. */
import { fail } from '../errors.ts';
import type { Base64 } from '../ports/media.ts';
import { dataUriHeader, isDataUri } from './data-uri.ts';
import { checkUrl, type UrlRules } from './public-address.ts';

export const checkSource = (source: Base64, field: string, rules: UrlRules): void => {
  if (isDataUri(source)) {
    if (dataUriHeader(source) === undefined)
      throw fail('invalid_request', `${field} must be a base64 data URI`);
    return;
  }
  if (typeof source !== 'string')
    throw fail('invalid_request', `${field} must be an https URL or a data URI`);
  const checked = checkUrl(source, rules);
  if ('problem' in checked) throw fail('invalid_request', `${field} ${checked.problem}`);
};
