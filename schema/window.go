package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Window is a time of the week by a clock on the wall: "Sat 02:00-06:00", "Mon-Fri 22:00-06:00", "Sat,Sun
// 00:00-24:00", "daily 02:00-04:00". One that ends before it begins ends on the next day. The clock decides:
// a reading that it skips is in no window, and one that it repeats is twice in the same.
type Window struct {
	days       uint8 // a bit for each day on which it begins, from Sunday on
	begin, end int   // minutes
}

const everyDay = 1<<7 - 1

var dayNames = []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

// UnmarshalText reads a window.
func (w *Window) UnmarshalText(text []byte) error {
	days, times, ok := strings.Cut(strings.TrimSpace(string(text)), " ")
	from, to, two := strings.Cut(strings.TrimSpace(times), "-")
	var got Window
	begin, beginOK := minute(from)
	end, endOK := minute(to)
	got.begin, got.end = begin, end
	switch {
	case !ok || !two || !beginOK || !endOK || begin == 24*60:
		return fmt.Errorf("%q is no window: it is days and two times, as in \"Sat 02:00-06:00\", \"Mon-Fri 22:00-06:00\" or \"daily 02:00-04:00\"", text)
	case begin == end:
		return fmt.Errorf("the window %q ends when it begins; a whole day is 00:00-24:00", text)
	}
	var err error
	if got.days, err = daysOf(days); err != nil {
		return fmt.Errorf("the window %q: %w", text, err)
	}
	*w = got
	return nil
}

// minute reads 02:00, up to 24:00.
func minute(text string) (int, bool) {
	if len(text) != len("00:00") || text[2] != ':' {
		return 0, false
	}
	h, herr := strconv.ParseUint(text[:2], 10, 8)
	m, merr := strconv.ParseUint(text[3:], 10, 8)
	at := int(h)*60 + int(m)
	return at, herr == nil && merr == nil && m < 60 && at <= 24*60
}

// daysOf reads days.
func daysOf(text string) (days uint8, err error) {
	if strings.EqualFold(text, "daily") {
		return everyDay, nil
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

// MarshalText writes it as UnmarshalText reads it.
func (w Window) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// String is "Sat 02:00-06:00".
func (w Window) String() string {
	days := "daily"
	if w.days != everyDay {
		var names []string
		for i := range dayNames {
			if d := (i + 1) % 7; w.days&(1<<d) != 0 { // from Monday on
				names = append(names, dayNames[d])
			}
		}
		days = strings.Join(names, ",")
	}
	return fmt.Sprintf("%s %02d:%02d-%02d:%02d", days, w.begin/60, w.begin%60, w.end/60, w.end%60)
}

// contains says whether what the clock shows is in the window.
func (w Window) contains(clock time.Time) bool {
	at, today := clock.Hour()*60+clock.Minute(), clock.Weekday()
	on := func(d time.Weekday) bool { return w.days&(1<<d) != 0 }
	if w.begin < w.end {
		return on(today) && at >= w.begin && at < w.end
	}
	return on(today) && at >= w.begin || on((today+6)%7) && at < w.end
}
