// Package cause has the one form in which statuses and commands say why a job has failed or
// does not go on: the error at one object, and the path to that object. The cause comes
// first, and once; the levels between the root and the object only add to the path.
package cause

import (
	"fmt"
	"slices"
	"strings"
)

// Cause is what has ended a job, or keeps it from going on.
type Cause struct {
	// Message is what the object says: what is wrong, and what to do about it.
	Message string
	// Item is the name of the item in the blueprint, and Target its Target under the name
	// that users have given it. Both are empty if no item is meant.
	Item, Target string
	// Path are the names of the subinstallations in their blueprints, from below the root
	// down to the object.
	Path []string
}

// Place says where the object is; it is empty for the root itself.
func (c Cause) Place() string {
	var parts []string
	switch {
	case c.Item != "" && c.Target != "":
		parts = append(parts, "at item "+c.Item+" on Target "+c.Target)
	case c.Item != "":
		parts = append(parts, "at item "+c.Item)
	}
	if len(c.Path) > 0 {
		parts = append(parts, "in "+strings.Join(c.Path, " > "))
	}
	return strings.Join(parts, "; ")
}

// String returns the cause with the way to it behind.
func (c Cause) String() string {
	message := shortened(c.Message)
	if place := c.Place(); place != "" {
		return message + "; " + place
	}
	return message
}

// Below returns the cause as the parent of a subinstallation sees it.
func (c Cause) Below(name string) Cause {
	c.Path = append([]string{name}, c.Path...)
	return c
}

const (
	// maxCauses is how many causes a text lists, and longest how much of each: the root has to
	// name the cause through all levels.
	maxCauses  = 3
	maxMessage = 1000
)

// List puts causes into a text, a line for each. A message that several objects have
// stands there once, with all places.
func List(causes []Cause) string {
	var messages []string
	places := map[string][]string{}
	for _, c := range causes {
		if !slices.Contains(messages, c.Message) {
			messages = append(messages, c.Message)
		}
		if place := c.Place(); place != "" && !slices.Contains(places[c.Message], place) {
			places[c.Message] = append(places[c.Message], place)
		}
	}
	more := len(messages) - maxCauses
	messages = messages[:min(maxCauses, len(messages))]
	lines := make([]string, len(messages), maxCauses+1)
	for i, message := range messages {
		lines[i] = strings.Join(append([]string{shortened(message)}, few(places[message])...), "; ")
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func few(places []string) []string {
	if len(places) <= maxCauses {
		return places
	}
	return append(places[:maxCauses:maxCauses], fmt.Sprintf("and at %d more places", len(places)-maxCauses))
}

// shortened cuts a message.
func shortened(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + " ..."
}
