package idempotency_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestTexts: what people and other programs wrote is stored whole on a connection of any character set: an
// error that cannot be stored would leave its key in progress.
func TestTexts(t *testing.T) {
	plain, dsn := open(t)
	for _, c := range [][3]string{{"utf8", "utf8_general_ci", "false"}, {"utf8", "utf8_general_ci", "true"}, {"latin1", "latin1_swedish_ci", "true"}, {"gbk", "gbk_chinese_ci", "false"}} {
		t.Run(c[0]+" "+c[2], func(t *testing.T) {
			dbtest.Exec(t, plain, "DELETE FROM onerow_key")
			dbtest.Exec(t, plain, "DELETE FROM onerow_key_audit")
			texts(t, plain, dbtest.OpenDSN(t, dsnWith(t, dsn, c[0], c[1], c[2])))
		})
	}
}

func texts(t *testing.T, plain, db onerow.DB) {
	keys, ctx := newKeys(t, idempotency.Config{Name: "host 😀"}), t.Context()
	for id, words := range map[string]string{"emoji": "card 💳 refused", "chinese": "拒绝𠜎", "nothing": "", "invalid": "a\xffb", "long": strings.Repeat("💳", 20_000)} {
		cause := errors.New(words)
		claim := begun(t, db, keys, key(id))
		for range 2 { // the second one finds what the first has stored
			if err := keys.Fail(ctx, db, claim, cause, idempotency.Options{Attention: true}); err != nil {
				t.Fatalf("%s: %v", id, err)
			}
		}
		_, err := idempotency.Do(ctx, db, keys, key("do "+id), func(context.Context, *onerow.Tx) (receipt, error) {
			return receipt{}, idempotency.Permanent(cause)
		})
		_, last := idempotency.Do(ctx, db, keys, key("last "+id), func(context.Context, *onerow.Tx) (receipt, error) {
			return receipt{}, idempotency.Permanent(cause)
		})
		if !errors.Is(err, idempotency.ErrFailed) || !errors.Is(last, idempotency.ErrFailed) {
			t.Errorf("%s: %v, key last %v", id, err, last)
		}
		want := words
		switch id {
		case "invalid":
			want = "a\uFFFDb"
		case "long":
			want = strings.Repeat("💳", 3992) + "… (cut, it had 80000 bytes)"
		}
		for _, from := range []onerow.DB{plain, db} {
			for _, k := range []string{id, "do " + id, "last " + id} {
				if e := must(keyadmin.Find(ctx, from, key(k))); e.Error != want || e.Status != idempotency.Failed || e.Holder != "host 😀" {
					t.Errorf("%s: %.50q (%d bytes), held by %q, want %.50q (%d bytes)", k, e.Error, len(e.Error), e.Holder, want, len(want))
				}
			}
		}
	}
	odd := idempotency.Key{Tenant: "中文", Operation: "charge 😀", ID: "é😀"}
	claim := begun(t, db, keys, odd)
	zoë := must(keyadmin.NewOperator(keys, "zoë 😀", "she asked for it: 请 🙏"))
	for range 2 {
		if err := zoë.Complete(ctx, db, idempotency.Entry{Key: odd, Token: claim.Token, Status: idempotency.InProgress}, receipt{Note: "😀"}); err != nil {
			t.Fatal(err)
		}
	}
	var changed *keyadmin.ChangedError
	if err := must(keyadmin.NewOperator(keys, "Zoë 😀", "me too")).Complete(ctx, db, idempotency.Entry{Key: odd, Token: claim.Token, Status: idempotency.InProgress}, receipt{}); !errors.As(err, &changed) {
		t.Errorf("another operator, by one letter: %v", err)
	}
	for _, from := range []onerow.DB{plain, db} {
		if a := must(keyadmin.Audit(ctx, from, odd)); len(a) != 1 || a[0].Actor != "zoë 😀" || a[0].Reason != "she asked for it: 请 🙏" {
			t.Errorf("audit %+v", a)
		}
		if _, out, err := idempotency.Begin[receipt](ctx, from, keys, odd); err != nil || out == nil || out.Row.Note != "😀" {
			t.Errorf("the result: %+v, %v", out, err)
		}
	}
}

// TestOperatorTexts: the audit does not cut.
func TestOperatorTexts(t *testing.T) {
	keys := newKeys(t, idempotency.Config{})
	for _, c := range [][2]string{{"", "x"}, {"x", ""}, {strings.Repeat("x", 256), "x"}, {"x", strings.Repeat("x", 16_001)}} {
		if _, err := keyadmin.NewOperator(keys, c[0], c[1]); !errors.Is(err, idempotency.ErrInvalid) {
			t.Errorf("%.10q, %.10q: %v", c[0], c[1], err)
		}
	}
	must(keyadmin.NewOperator(keys, strings.Repeat("x", 255), strings.Repeat("x", 16_000)))
}
