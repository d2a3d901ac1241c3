import { Type } from 'typebox';
import { CurrencyCode, Limit, link, nullable, Offset, oneOf, Timestamp, text, Uuid } from '../lib/contract.ts';
import { detailLimits, furtherLimits } from './details.ts';

const AppMode = oneOf(['personal', 'business']);
const OnboardingStatus = oneOf(['complete', 'incomplete']);

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
      Type.String({
        maxLength: 254,
        pattern: '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$',
        description: 'must be an e-mail address of at most 254 characters',
        examples: ['ada@example.com'],
      }),
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
    display_currency: Type.Optional(CurrencyCode),
    app_mode: Type.Optional(oneOf(['personal', 'business'], 'personal if it is left out.')),
    wallet_address: Type.Optional(
      Type.String({
        pattern: '^0x[0-9a-fA-F]{40}$',
        description: 'must be an EVM address: 0x and 40 hexadecimal digits',
        examples: ['0x52908400098527886e0f7030069857d2e4169ee7'],
      }),
    ),
  },
  {
    title: 'NewMerchant',
    examples: [{ email: 'ada@example.com', business_name: 'Ada’s Bakery', country: 'DE', app_mode: 'business' }],
  },
);

export const MerchantObject = Type.Object(
  {
    ok: Type.Literal(true),
    account_id: Uuid,
    email: nullable(Type.String()),
    display_name: nullable(Type.String()),
    business_name: nullable(Type.String()),
    country: nullable(Type.String()),
    phone: nullable(Type.String()),
    website: nullable(Type.String()),
    instagram: nullable(Type.String()),
    industry: nullable(Type.String()),
    app_mode: AppMode,
    onboarding_status: OnboardingStatus,
    wallet_address: nullable(Type.String()),
    display_currency: nullable(CurrencyCode),
    home_portal: Type.String({ description: 'The partner’s slug.' }),
    disabled: Type.Boolean(),
    created_at: Timestamp,
    test_mode: Type.Boolean(),
    onboarding_url: nullable(
      link('Where the merchant finishes onboarding, valid for seven days from this response; null when complete.'),
    ),
    idempotent_replay: Type.Optional(Type.Literal(true)),
  },
  { title: 'Merchant', examples: [merchantExample] },
);

export const MerchantQuery = Type.Object({
  onboarding_status: Type.Optional(OnboardingStatus),
  disabled: Type.Optional(Type.Boolean()),
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
});

export const MerchantList = Type.Object(
  {
    ok: Type.Literal(true),
    merchants: Type.Array(MerchantObject),
    has_more: Type.Boolean(),
    limit: Type.Integer(),
    offset: Type.Integer(),
  },
  {
    title: 'MerchantList',
    examples: [{ ok: true, merchants: [merchantExample], has_more: false, limit: 50, offset: 0 }],
  },
);
