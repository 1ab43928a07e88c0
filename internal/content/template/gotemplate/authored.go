package gotemplate

import "go.landscaper.dev/internal/content/template/gotemplate/failure"

// fail ends the rendering with a message of the author, in which values are hidden.
func (r *renderer) fail(message string) (string, error) {
	return "", r.authored("fail", message)
}

func (r *renderer) required(message string, value any) (any, error) {
	if text, isText := value.(string); value == nil || (isText && text == "") {
		return nil, r.authored("required", message)
	}
	return value, nil
}

func (r *renderer) authored(name, message string) error {
	shown := message
	if !r.known(message) {
		shown = r.masks().Show(message, r.pieces())
	}
	return &failure.CallError{Name: name, Reason: shown}
}
