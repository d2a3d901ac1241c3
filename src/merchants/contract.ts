import { Type } from 'typebox';
import {
  CurrencyCode,
  IdempotentReplay,
  Limit,
  link,
  listFields,
  meant,
  nullable,
  Offset,
  Ok,
  oneOf,
  TestMode,
  Timestamp,
  text,
  Uuid,
} from '../lib/contract.ts';
import { detailLimits, furtherLimits } from './details.ts';

const OnboardingStatus = oneOf(
  ['complete', 'incomplete'],
  'Complete once the merchant has signed in with its wallet and accepted the terms. Only then can requests be created.',
);
/** A detail that the partner gives at create, and the merchant can change. */
const detail = () => nullable(Type.String(), 'As given by you or by the merchant; null if by nobody.');

const merchantExample = {
  ok: true,
  account_id: '5f0c9f0e-3b1a-4c57-9b0e-1f2d3c4b5a69',
  email: 'ada@example.com',
  display_name: null,
  business_name: 'Ada’s Bakery',
  country: 'DE',
  phone: null,
  website: null,
  instagram: null,
  industry: 'Bakery',
  app_mode: 'business',
  onboarding_status: 'incomplete',
  wallet_address: null,
  display_currency: 'EUR',
  home_portal: 'tills',
  disabled: false,
  created_at: '2026-01-31T09:30:00.000Z',
  test_mode: false,
  onboarding_url: 'https://api.example.com/onboard/Xw9fT2c',
};

/** The body of `POST /api/v1/accounts`. Every field is optional. */
export const CreateMerchant = Type.Object(
  {
    email: Type.Optional(
      meant(
        Type.String({
          maxLength: 254,
          pattern: '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$',
          description: 'must be an e-mail address of at most 254 characters',
          examples: ['ada@example.com'],
        }),
        'Onboarding asks for a code that is sent there.',
      ),
    ),
    display_name: Type.Optional(text(detailLimits.display_name, 'Shown in the dashboard header.')),
    business_name: Type.Optional(
      text(detailLimits.business_name, 'Shown on receipts and the pay page.', ['Ada’s Bakery']),
    ),
    country: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{2}$',
        description: 'must be an ISO 3166-1 alpha-2 code in two upper-case letters',
        examples: ['DE'],
      }),
    ),
    phone: Type.Optional(text(detailLimits.phone, 'Free form.')),
    website: Type.Optional(text(detailLimits.website, 'The shop’s website.')),
    instagram: Type.Optional(text(furtherLimits.instagram, 'The shop’s Instagram name.')),
    industry: Type.Optional(text(furtherLimits.industry, 'Your own label.')),
    display_currency: Type.Optional(
      meant(CurrencyCode, 'The currency of its requests; the partner’s if it is left out.'),
    ),
    app_mode: Type.Optional(oneOf(['personal', 'business'], 'personal if it is left out.')),
    wallet_address: Type.Optional(
      meant(
        Type.String({
          pattern: '^0x[0-9a-fA-F]{40}$',
          description: 'must be an EVM address: 0x and 40 hexadecimal digits',
          examples: ['0x52908400098527886e0f7030069857d2e4169ee7'],
        }),
        'The wallet with which the merchant must sign in to finish onboarding; any of its own if it is left out.',
      ),
    ),
  },
  {
    title: 'NewMerchant',
    examples: [{ email: 'ada@example.com', business_name: 'Ada’s Bakery', country: 'DE', app_mode: 'business' }],
  },
);

export const MerchantObject = Type.Object(
  {
    ok: Ok,
    account_id: meant(Uuid, 'Identifies the merchant in requests.'),
    email: detail(),
    display_name: detail(),
    business_name: detail(),
    country: detail(),
    phone: detail(),
    website: detail(),
    instagram: detail(),
    industry: detail(),
    app_mode: oneOf(['personal', 'business'], 'As given, or personal.'),
    onboarding_status: OnboardingStatus,
    wallet_address: nullable(
      Type.String(),
      'Where payments go, in lower case; null until one is known. Before onboarding is complete, nobody has signed with it.',
    ),
    display_currency: nullable(CurrencyCode, 'The currency of the merchant’s requests.'),
    home_portal: Type.String({ description: 'The partner’s slug.' }),
    disabled: Type.Boolean({
      description: 'Whether the partner or the operator has disabled the merchant. Then no requests can be created.',
    }),
    created_at: meant(Timestamp, 'When the merchant was created.'),
    test_mode: TestMode,
    onboarding_url: nullable(
      link('Send the merchant there.'),
      'Where the merchant finishes onboarding, valid for seven days from this response; null when complete.',
    ),
    idempotent_replay: IdempotentReplay,
  },
  { title: 'Merchant', examples: [merchantExample] },
);

export const MerchantQuery = Type.Object({
  onboarding_status: Type.Optional(OnboardingStatus),
  disabled: Type.Optional(
    Type.Boolean({ description: 'Only merchants that are disabled, or only those that are not.' }),
  ),
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
});

export const MerchantList = Type.Object(
  {
    ok: Ok,
    merchants: Type.Array(MerchantObject, { description: 'Sorted by created_at, oldest first.' }),
    ...listFields,
  },
  {
    title: 'MerchantList',
    examples: [{ ok: true, merchants: [merchantExample], has_more: false, limit: 50, offset: 0 }],
  },
);
