package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/output"
)

// longestTarget is what the command takes, too: a batch holds its locks for so long.
const longestTarget = 5 * time.Second

// set tells workers how to work; setDefault has them obey their flags again. Both within a second.
func (p *Page) set(ctx context.Context, r *http.Request, _ int64) (string, error) {
	s := admin.Settings{Worker: r.PostFormValue("worker")}
	load, err := number(r, "load", "The load", 1, 100)
	if err != nil {
		return "", err
	}
	target, err := number(r, "target", "The target", 1, int(longestTarget/time.Millisecond))
	if err != nil {
		return "", err
	}
	if s.Parallel, err = number(r, "parallel", "Jobs at once", 1, 64); err != nil {
		return "", err
	}
	s.Load, s.Target = float64(load)/100, time.Duration(target)*time.Millisecond
	if s.Load == 0 && s.Target == 0 && s.Parallel == 0 {
		return "", errors.New("nothing was set: fill in a load, a target, or how many jobs at once")
	}
	return "Set for " + whose(s.Worker) + ": " + settingText(s) + ".", admin.Set(ctx, p.db, s)
}

func (p *Page) setDefault(ctx context.Context, r *http.Request, _ int64) (string, error) {
	worker := r.PostFormValue("worker")
	return capital(whose(worker)) + " work as the flags say, again.", admin.Set(ctx, p.db, admin.Settings{Worker: worker})
}

// number is a field of the form; 0 for an empty one.
func number(r *http.Request, field, what string, least, most int) (int, error) {
	text := strings.TrimSpace(r.PostFormValue(field))
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s is %q; it should be a number from %d to %d", what, output.Shorten(output.Printable(text), 40), least, most)
	}
	return n, nil
}

func whose(worker string) string {
	if worker == "" {
		return "all workers"
	}
	return "worker " + output.Shorten(output.Printable(worker), 80)
}

func settingText(s admin.Settings) string {
	var parts []string
	if s.Load > 0 {
		parts = append(parts, fmt.Sprintf("load %.3g %%", 100*s.Load))
	}
	if s.Target > 0 {
		parts = append(parts, "target "+s.Target.String())
	}
	if s.Parallel > 0 {
		parts = append(parts, output.Plural(s.Parallel, "job")+" at once")
	}
	return strings.Join(parts, ", ")
}
