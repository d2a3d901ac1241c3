import leven from 'leven';

/** All settings of the environment. */
export const settingNames = [
  ...['NODE_ENV', 'SANDBOX', 'DEV_ALLOW_CIDRS', 'PORT', 'HOST', 'BASE_URL', 'PAY_URL', 'DATA_DIR'],
  ...['DATABASE_URL', 'DATABASE_OWNER_URL', 'DATABASE_POOL_MODE', 'DATABASE_READ_URL', 'DATABASE_TLS', 'SECRET_KEYS'],
  ...['CHAINS_FILE', 'RECURRING_CONTRACT', 'RELAYER_KEYS', 'RELAYER_SIGNER_URL', 'RELAYER_ADDRESS', 'DEPLOYER_KEY'],
  ...['RATE_PROVIDERS', 'WEBHOOK_SCHEDULE_SECONDS', 'WEBHOOK_ALLOW_CIDRS', 'SMTP_URL', 'MAIL_FROM'],
  ...['PHONE_GATEWAY_URL', 'PHONE_GATEWAY_TOKEN', 'WALLETCONNECT_PROJECT_ID', 'WALLETCONNECT_RELAY_URL'],
  ...['ERASE_CUSTOMER_DATA_AFTER_DAYS', 'TRUST_PROXY', 'HSTS', 'DRAIN_SECONDS', 'PAGE_LIMIT'],
  ...['METRICS_PORT', 'METRICS_HOST', 'METRICS_TOKEN', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_HEADERS'],
  ...['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_SERVICE_NAME', 'OTEL_RESOURCE_ATTRIBUTES'],
  ...['OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG', 'LOG_LEVEL'],
];

/** A shorter name is close to too many others. */
const minLength = 8;
const maxEdits = 3;

/** A name in the environment that is probably meant as a setting, which is not set itself. */
export type Misspelt = { name: string; meant: string };

/** An editor may begin a file with a byte order mark, which becomes part of the first name. */
const withoutInvisible = (name: string) => name.replace(/[^!-~]/g, '');

/** The names that are close to a setting. Other programs have names in the environment too, so none is refused. */
export function findMisspelt(env: NodeJS.ProcessEnv): Misspelt[] {
  const unset = settingNames.filter((name) => name.length >= minLength && !env[name]);
  return Object.keys(env)
    .filter((name) => env[name] && !settingNames.includes(name))
    .flatMap((name) => {
      const bare = withoutInvisible(name);
      const meant =
        bare !== name && settingNames.includes(bare) && !env[bare]
          ? bare
          : unset.find((setting) => leven(name.toUpperCase(), setting, { maxDistance: maxEdits }) < maxEdits);
      return meant ? [{ name, meant }] : [];
    });
}

/**
 * A fault if a file of settings is in UTF-16, as some Windows programs save it: Node reads it as UTF-8, and every
 * setting in it is lost. All that remains of the file is one name: its byte order mark, as replacement characters, and
 * its first letter.
 */
export const encodingFaults = (env: NodeJS.ProcessEnv): string[] =>
  Object.keys(env).some((name) => name.startsWith('\ufffd\ufffd'))
    ? ['A file of settings is in UTF-16, so nothing in it was read: save it in UTF-8']
    : [];

/** What to do about a misspelt name, as a sentence. */
export const misspeltAdvice = ({ name, meant }: Misspelt): string =>
  withoutInvisible(name) === meant
    ? `${meant} is ignored, because an invisible character belongs to its name: save the file without a byte order mark.`
    : `${name} is not a setting, so it is ignored: is it meant to be ${meant}?`;
