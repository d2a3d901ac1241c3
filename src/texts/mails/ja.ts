import type { MailTexts } from '../mails.ts';

export const ja: MailTexts<'ja'> = {
  code: {
    subject: '{code} が確認コードです',
    body: '確認コード：\n\n{code}\n\n15 分間有効です。{partner} から、ステーブルコインでの受け取りに招待されています。開いているページにこのコードを入力してください。\n\nお心当たりがない場合は、このメールを無視してください。コードがなければ誰も先に進めません。',
  },
  signIn: 'サインイン',
  wallet: {
    unnamed: '加盟店',
    about: '加盟店：{merchant}\n加盟店 ID：{account}\n招待元：{partner}',
    stop: 'リカバリーを停止',
    changed: {
      subject: '{merchant}：ウォレットが変更されました',
      body: '新しい請求は、今後このウォレットに支払われます：\n\n{newWallet}\n\nこれまでの支払い先：\n\n{oldWallet}\n\nこの変更には両方のウォレットが署名しました。既存の請求は、引き続き以前のウォレットに支払われます。',
    },
    recovery_started: {
      subject: '{merchant}：ウォレットのリカバリーが開始されました',
      body: '次のウォレットの紛失が報告されたため、リカバリーが開始されました：\n\n{oldWallet}\n\nまだ何も変わっていません。先に新しいウォレットでの署名が必要で、その後 48 時間が経過するまで切り替わりません。\n\nウォレットを紛失していない場合は、そのウォレットで署名してリカバリーを停止してください：\n\n{link}',
    },
    recovery_signed: {
      subject: '{merchant}：48 時間後に受け取り先が別のウォレットに移ります',
      body: '{time} から、新しい請求はこのウォレットに支払われます：\n\n{newWallet}\n\nそれまではこのウォレットに支払われます：\n\n{oldWallet}\n\n誤りであれば、それまでに現在のウォレットで署名して停止してください：\n\n{link}',
    },
    recovered: {
      subject: '{merchant}：ウォレットのリカバリーが完了しました',
      body: '新しい請求は、今後このウォレットに支払われます：\n\n{newWallet}\n\nこれまでの支払い先（48 時間以内に異議がありませんでした）：\n\n{oldWallet}\n\n既存の請求は、引き続き以前のウォレットに支払われます。',
    },
    displaced: {
      subject: '{merchant}：別の人がこの加盟店のウォレットでサインインしました',
      body: 'この加盟店の作成時に次のウォレットが指定されましたが、加盟店は一度もこのウォレットでサインインしていません：\n\n{oldWallet}\n\nこのたび別の人がサインインしたため、このウォレットはその人のものになりました。加盟店には現在ウォレットがなく、別のウォレットで登録を完了できます。支払いに影響はありません。',
    },
    recovery_stopped: {
      subject: '{merchant}：ウォレットのリカバリーが停止されました',
      body: '何も変わりません。支払いは引き続きこのウォレットに届きます：\n\n{oldWallet}\n\n{reason}',
    },
    stoppedBy: {
      merchant: '現在のウォレットで停止されました。',
      partner: '開始した側が取り消しました。',
      time: '新しいウォレットが署名しないまま、リカバリーのリンクが期限切れになりました。',
    },
  },
  endpoint: {
    testSubject: 'テストモードの Webhook が無効になりました',
    liveSubject: '本番モードの Webhook が無効になりました',
    body: '次の URL へのイベントの送信を停止しました：\n\n{url}\n\n{reason}\n\n支払いに影響はなく、失われたイベントもありません。新しいイベントは待機します。エンドポイントを修正してから、Webhook をもう一度有効にするか、新しい URL を設定してください。待機中のイベントはすぐに送信されます。失敗したイベントは再送できます。\n\n{link}',
    gone: '410 Gone が返されました。',
    failing: '120 時間、配信が一度も成功していません。',
    open: 'Webhook を開く',
  },
};
