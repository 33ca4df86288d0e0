package security_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/security"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/ordering"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

// uses are what an application does with each package, as its own user.
var uses = map[string]func(ctx context.Context, a *application) error{
	"repo.Get": func(ctx context.Context, a *application) error {
		return steps(
			func() error { _, err := a.projects.Get(ctx, a.db, a.id("gamma")); return err },
			func() error { _, err := a.projects.Find(ctx, a.db, 7, "alpha"); return err },
			func() error { _, err := a.projects.List(ctx, a.db, 7, repo.PageOptions{}); return err },
		)
	},
	"repo": func(ctx context.Context, a *application) error {
		alpha, gamma := a.id("alpha"), a.id("gamma")
		return steps(
			func() error {
				_, err := a.projects.Create(ctx, a.db, project{UserID: 7, Name: "delta"}, repo.RequestID("d"))
				return err
			},
			func() error {
				res, err := a.projects.Create(ctx, a.db, project{UserID: 7, Name: "delta"}, repo.RequestID("d"))
				if err == nil && !res.Replayed {
					err = errors.New("made twice")
				}
				return err
			},
			func() error {
				_, err := a.projects.Create(ctx, a.db, project{UserID: 7, Name: "alpha"})
				return want(err, repo.ErrNameTaken)
			},
			func() error { _, err := a.projects.Rename(ctx, a.db, alpha, "one"); return err },
			func() error {
				_, err := a.projects.Update(ctx, a.db, alpha, func(*project) error { return nil })
				return err
			},
			func() error { _, err := a.projects.Archive(ctx, a.db, alpha); return err },
			func() error { _, err := a.projects.Activate(ctx, a.db, alpha); return err },
			func() error { _, err := a.projects.Activate(ctx, a.db, gamma); return err },
			func() error { _, err := a.projects.Delete(ctx, a.db, gamma, repo.Grace(time.Hour)); return err },
			func() error { _, err := a.projects.CancelDelete(ctx, a.db, gamma); return err },
			func() error { _, err := a.projects.Archive(ctx, a.db, gamma); return err },
			func() error { _, err := a.projects.Delete(ctx, a.db, gamma, repo.Grace(time.Hour)); return err },
			func() error { _, err := a.projects.CancelDelete(ctx, a.db, gamma); return err },
			func() error { _, err := a.projects.Delete(ctx, a.db, gamma); return err },
			func() error {
				res, err := a.screens.Create(ctx, a.db, screen{ProjectID: alpha, Filename: "b.png"})
				if err != nil {
					return err
				}
				id := res.Row.ID
				return steps(
					func() error { _, err := a.screens.Rename(ctx, a.db, id, "c.png"); return err },
					func() error { _, err := a.screens.Archive(ctx, a.db, id); return err },
					func() error { _, err := a.screens.Delete(ctx, a.db, id, repo.Grace(time.Hour)); return err },
					func() error { _, err := a.screens.CancelDelete(ctx, a.db, id); return err },
					func() error { _, err := a.screens.Activate(ctx, a.db, id); return err },
				)
			},
		)
	},
	"repo.PurgeRequests": func(ctx context.Context, a *application) error {
		a.exec("INSERT INTO onerow_request (resource, owner, request_id, fingerprint, call_token, created_at) VALUES ('project', '7', 'old', '', '', '2020-01-01')")
		_, err := repo.PurgeRequests(ctx, a.db, time.Hour, 10)
		return err
	},
	"quota": func(ctx context.Context, a *application) error {
		rule, err := quota.New(plan, "project", quota.LimitQuery("SELECT projects FROM tariff WHERE user_id = ?"))
		if err != nil {
			return err
		}
		a.exec("UPDATE onerow_quota_owner SET changed_at = UTC_TIMESTAMP(6)")
		return steps(
			func() error { return quota.Mark(ctx, a.db, "project", 7) },
			func() error { return rule.Settle(ctx, a.db, 7) },
			func() error { _, err := rule.Recalculate(ctx, a.db, 7); return err },
			func() error {
				_, err := quota.NewSweeper(a.db, quota.Config{}, rule).RunOnce(ctx)
				return err
			},
		)
	},
	"limit": func(ctx context.Context, a *application) error {
		limited := plan
		limited.Resources = slices.Clone(plan.Resources)
		for i := range limited.Resources {
			if limited.Resources[i].Name == "project" {
				limited.Resources[i].Limits = []schema.Limit{{}}
			}
		}
		rule, err := limit.New(limited, "project", quota.LimitQuery("SELECT projects FROM tariff WHERE user_id = ?"))
		if err != nil {
			return err
		}
		a.exec("UPDATE tariff SET projects = 9 WHERE user_id = 7")
		reserve := func() error { _, err := rule.Reserve(ctx, a.db, "k", 1, time.Hour, 7); return err }
		return steps(
			reserve, reserve,
			func() error { return rule.Cancel(ctx, a.db, "k", 7) },
			func() error { return rule.Changed(ctx, a.db, 7) },
			func() error { return rule.Recount(ctx, a.db, 123456) }, // nobody, so nothing stays
			func() error { _, err := rule.Look(ctx, a.db, 7); return err },
			func() error {
				_, err := limit.NewSweeper(a.db, limit.Config{}, rule).RunOnce(ctx)
				return err
			},
		)
	},
	"idempotency": func(ctx context.Context, a *application) error {
		keys, err := idempotency.New(idempotency.Config{})
		if err != nil {
			return err
		}
		key := func(id string) idempotency.Key { return idempotency.Key{Operation: "charge", ID: id} }
		begin := func(id string, end func(idempotency.Claim) error) func() error {
			return func() error {
				claim, _, err := idempotency.Begin[int](ctx, a.db, keys, key(id), idempotency.Options{Lease: time.Minute})
				if err != nil {
					return err
				}
				return end(claim)
			}
		}
		do := func() func() error {
			return func() error {
				_, err := idempotency.Do(ctx, a.db, keys, key("do"), func(context.Context, *onerow.Tx) (int, error) { return 1, nil })
				return err
			}
		}
		return steps(do(), do(),
			begin("a", func(c idempotency.Claim) error {
				return errors.Join(keys.Extend(ctx, a.db, c), keys.Owned(ctx, a.db, c, func(context.Context, *onerow.Tx) error { return nil }), keys.Complete(ctx, a.db, c, 1))
			}),
			begin("b", func(c idempotency.Claim) error { return keys.Fail(ctx, a.db, c, errors.New("no")) }),
			begin("c", func(c idempotency.Claim) error { return keys.Release(ctx, a.db, c) }),
			func() error { _, err := keyadmin.Find(ctx, a.db, key("a")); return err },
			func() error { _, err := keyadmin.Measure(ctx, a.db, keys); return err },
		)
	},
	"idempotency.Admit": func(ctx context.Context, a *application) error {
		keys, err := idempotency.New(idempotency.Config{})
		if err != nil {
			return err
		}
		admit := func() error {
			_, err := keys.Admit(ctx, a.db, idempotency.Key{Operation: "mail", ID: "x"}, time.Minute)
			return err
		}
		return steps(admit, admit, func() error {
			a.exec("UPDATE onerow_admission SET admitted_at = '2020-01-01', until_at = '2020-01-02'")
			return admit()
		})
	},
	"flow": func(ctx context.Context, a *application) error {
		first, second := flow.Run{Flow: "cart/1", RequestID: "a"}, flow.Run{Flow: "cart/1", RequestID: "b"}
		step := ""
		return steps(
			func() error { _, err := flow.Claim(ctx, a.db, first); return err },
			func() error { _, err := flow.Claim(ctx, a.db, first); return err },
			func() error { _, err := flow.Claim(ctx, a.db, second); return want(err, flow.ErrOwned) },
			func() error { return flow.Prove(ctx, a.db, first) },
			func() (err error) {
				if step, err = flow.StepID(first, "ask"); err == nil {
					_, err = flow.Await(ctx, a.db, first, "ask", []byte("?"))
				}
				return err
			},
			func() error { _, err := flow.Answer(ctx, a.db, step, []byte("!")); return err },
			func() error { _, err := flow.Supersede(ctx, a.db, second); return err },
			func() error { _, err := flow.Owners(ctx, a.db, "cart/1"); return err },
			func() error { _, err := flow.Finish(ctx, a.db, second); return err },
		)
	},
	"flow.Forget": func(ctx context.Context, a *application) error {
		a.exec("INSERT INTO onerow_flow_request (flow, stage, request_id, status, admitted_at, ended_at) VALUES ('f', '', 'r', 'finished', '2020-01-01', '2020-01-01')")
		_, err := flow.Forget(ctx, a.db, time.Hour, 10)
		return err
	},
	"ordering": func(ctx context.Context, a *application) error {
		guard, kept := ordering.Guard[int]{Consumer: "runs", Hold: true, First: 1}, ordering.Guard[int]{Consumer: "kept", Keep: true}
		count := func(_ context.Context, _ *onerow.Tx, _ ordering.Message, n *int) error { *n++; return nil }
		apply := func(n int64) func() error {
			return func() error {
				_, err := guard.Apply(ctx, a.db, ordering.Message{Stream: "s", Sequence: n}, count)
				return err
			}
		}
		return steps(apply(1), apply(3), apply(3), apply(2), apply(1), apply(5),
			func() error {
				_, err := kept.Apply(ctx, a.db, ordering.Message{Stream: "s", Sequence: 7}, count)
				return err
			},
			func() error { _, err := guard.Waiting(ctx, a.db, 10); return err },
			func() error { _, err := guard.Skip(ctx, a.db, "s", 4, count); return err },
			func() error { _, err := guard.Release(ctx, a.db, "s", count); return err },
			func() error { _, err := guard.Read(ctx, a.db, "s"); return err },
			func() error { _, err := ordering.Forget(ctx, a.db, time.Hour, 10); return err },
		)
	},
	"ordering.ByTime": func(ctx context.Context, a *application) error {
		_, err := ordering.ByTime{Table: "meter", ID: "id", At: "read_at"}.Update(ctx, a.db, 1, time.Unix(1e9, 0), ordering.Change{Set: map[string]any{"value": 12}})
		return err
	},
	"ordering.Park": func(ctx context.Context, a *application) error {
		return steps(
			func() error { _, err := ordering.Park(ctx, a.db, "q", "m", []byte("x"), errors.New("no")); return err },
			func() error { _, err := ordering.Park(ctx, a.db, "q", "m", []byte("x"), errors.New("no")); return err },
			func() error {
				letters, err := ordering.DeadLetters(ctx, a.db, "q", 0, 10)
				if err == nil {
					_, err = ordering.Settle(ctx, a.db, letters[0].ID)
				}
				return err
			},
		)
	},
	"serial": func(ctx context.Context, a *application) error {
		series, err := serial.New("invoices")
		if err != nil {
			return err
		}
		claim := func() error { _, err := series.Claim(ctx, a.db, "k", 3); return err }
		return steps(claim, claim,
			func() error { _, err := series.Void(ctx, a.db, "k", "why"); return err },
			func() error { _, err := series.Find(ctx, a.db, "k"); return err },
			func() error { _, err := gaps.Find(ctx, a.db, series); return err },
			func() error { _, err := serial.List(ctx, a.db, "", 10); return err },
		)
	},
}

// TestPackages: with what the document says for it each package works, and with nothing less.
func TestPackages(t *testing.T) {
	document, err := security.Read("../../docs/OPERATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]security.Words{
		"":                {"the row's table": security.On("project", "screen"), "its archive": security.On("project_archive", "screen_archive")},
		"repo.Get":        {"the row's table": security.On("project"), "its archive": security.On("project_archive")},
		"quota":           {"the row's table": security.On("project"), "what the limit reads": security.On("tariff")},
		"limit":           {"the row's table": security.On("project"), "its archive": security.On("project_archive"), "what the maximum reads": security.On("tariff")},
		"ordering.ByTime": {"the row's table": security.On("meter")},
	}
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meaning, special := words[name]
			if !special {
				meaning = words[""]
			}
			rights, err := document.Rights(name, meaning)
			if err != nil {
				t.Fatal(err)
			}
			a := newApplication(t)
			a.user.Least(rights, func() error {
				a.anew()
				ctx, cancel := a.bounded()
				defer cancel()
				return uses[name](ctx, a)
			})
		})
	}
}
