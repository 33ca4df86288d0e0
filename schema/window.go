package schema

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// window is a time of the week by a clock on the wall, see [Retention.Windows].
type window struct {
	days       uint8 // a bit for each day on which it begins, from Sunday on
	begin, end int   // minutes
}

var dayNames = []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

func (r Retention) windows() (all []window, err error) {
	for _, text := range r.Windows {
		w, err := parseWindow(text)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// parseWindow reads "Sat 02:00-06:00".
func parseWindow(text string) (w window, err error) {
	days, times, ok := strings.Cut(strings.TrimSpace(text), " ")
	from, to, two := strings.Cut(strings.TrimSpace(times), "-")
	var beginOK, endOK bool
	w.begin, beginOK = minute(from)
	w.end, endOK = minute(to)
	switch {
	case !ok || !two || !beginOK || !endOK || w.begin == 24*60:
		return w, fmt.Errorf("%q is no window: it is days and two times, as in \"Sat 02:00-06:00\", \"Mon-Fri 22:00-06:00\" or \"daily 02:00-04:00\"", text)
	case w.begin == w.end:
		return w, fmt.Errorf("the window %q ends when it begins; a whole day is 00:00-24:00", text)
	}
	if w.days, err = daysOf(days); err != nil {
		err = fmt.Errorf("the window %q: %w", text, err)
	}
	return w, err
}

// minute reads 02:00, up to 24:00.
func minute(text string) (int, bool) {
	if text == "24:00" {
		return 24 * 60, true
	}
	at, err := time.Parse("15:04", text)
	return at.Hour()*60 + at.Minute(), err == nil && len(text) == len("15:04")
}

func daysOf(text string) (days uint8, err error) {
	if strings.EqualFold(text, "daily") {
		return 1<<7 - 1, nil
	}
	named := func(name string) int {
		return slices.IndexFunc(dayNames, func(d string) bool { return strings.EqualFold(d, name) })
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, several := strings.Cut(part, "-")
		if !several {
			last = first
		}
		from, to := named(first), named(last)
		if from < 0 || to < 0 {
			return 0, fmt.Errorf("%q is no day; days are daily, Mon, Mon-Fri, Sat,Sun", part)
		}
		for d := from; ; d = (d + 1) % 7 {
			if days |= 1 << d; d == to {
				break
			}
		}
	}
	return days, nil
}

// contains says whether what the clock shows is in the window.
func (w window) contains(clock time.Time) bool {
	at, today := clock.Hour()*60+clock.Minute(), clock.Weekday()
	on := func(d time.Weekday) bool { return w.days&(1<<d) != 0 }
	if w.begin < w.end {
		return on(today) && at >= w.begin && at < w.end
	}
	return on(today) && at >= w.begin || on((today+6)%7) && at < w.end
}
