package retentionfuzz

import (
	"fmt"
	"slices"
	"time"
)

// window is one of a policy, by days and minutes of a clock on the wall.
type window struct {
	days       uint8 // a bit for each day on which it begins, from Sunday on
	begin, end int
}

var dayNames = []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

// String is how a plan spells it.
func (w window) String() string {
	text := "daily"
	if w.days != 1<<7-1 {
		text = ""
		for i, name := range dayNames {
			if w.days&(1<<i) != 0 {
				text += "," + name
			}
		}
		text = text[1:]
	}
	return fmt.Sprintf("%s %02d:%02d-%02d:%02d", text, w.begin/60, w.begin%60, w.end/60, w.end%60)
}

// shows says whether the window is open where a clock shows that. It goes by the readings from the beginning
// on, day by day: the toolkit's own arithmetic would only agree with itself.
func (w window) shows(clock time.Time) bool {
	minute := func(day, minutes int) time.Time { // of the readings alone, so in UTC
		return time.Date(clock.Year(), clock.Month(), clock.Day()+day, 0, minutes, 0, 0, time.UTC)
	}
	reading := minute(0, clock.Hour()*60+clock.Minute())
	for _, day := range []int{-1, 0} {
		from, to := minute(day, w.begin), minute(day, w.end)
		if !to.After(from) {
			to = to.AddDate(0, 0, 1)
		}
		if w.days&(1<<from.Weekday()) != 0 && !reading.Before(from) && reading.Before(to) {
			return true
		}
	}
	return false
}

// open says whether rows of the table may be queued at a moment.
func (d *design) open(t table, at time.Time) bool {
	return slices.ContainsFunc(t.windows, func(w window) bool { return w.shows(at.In(d.zone)) })
}

// opens is the first whole minute from a moment on at which they may be.
func (d *design) opens(t table, from time.Time) time.Time {
	at := from.Truncate(time.Minute).Add(time.Minute)
	for !d.open(t, at) {
		at = at.Add(time.Minute)
	}
	return at
}

// openBetween says whether they could be at any moment between two.
func (d *design) openBetween(t table, from, to time.Time) bool {
	for at := from; at.Before(to); at = at.Add(time.Second) {
		if d.open(t, at) {
			return true
		}
	}
	return d.open(t, to)
}
