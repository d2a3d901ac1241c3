import type { PlanTexts } from '../plans.ts';

export const ja: PlanTexts<'ja'> = {
  planMail: {
    subject: '{merchant} から {amount} のご請求',
    testSubject: 'テスト：{merchant} から {amount} のご請求',
    asks: '{merchant} から {amount} のご請求です',
    test: 'これはテストです。実際のお金は請求されません。',
    amount: '金額',
    until: 'お支払い期限',
    payTo: 'お支払い先',
    pay: '確認して支払う',
    linkRest: 'こちらで確認してお支払いください：{link}',
    why: '{merchant} は、取り決めた日ごとに支払いリンクをお送りします。お心当たりがない場合は、支払わないでください。このメールに返信されても確認できません。',
    for: '内容',
    unexpected: 'お心当たりがない場合は、{merchant} にお知らせください。',
    stop: 'このメールの配信を停止する',
  },
  planStop: {
    title: 'このメールの配信を停止しますか？',
    asked: '{merchant} は「{plan}」の支払いリンクを、取り決めた日ごとにお送りしています。',
    rest: '停止すると、このプランのメールは届かなくなります。プラン自体は続きます。終了するには {merchant} にお伝えください。',
    done: 'メールの配信を停止しました',
    doneRest:
      'このプランのメールは今後届きません。停止したことは {merchant} にも表示されます。プラン自体は、{merchant} が終了するまで続きます。',
  },
};
