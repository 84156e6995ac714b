package components

import (
	"fmt"
	"reflect"
	"sync"
)

// PointerError says where a component type holds a Go pointer.
type PointerError struct {
	// Type is the component type.
	Type reflect.Type
	// Path is the field that holds the pointer, from the type's name on:
	// "Inventory.Slots[].Name".
	Path string
	// Field is that field's type.
	Field reflect.Type
}

// Error names type, field and why it matters.
func (e *PointerError) Error() string {
	return fmt.Sprintf("component %v holds a pointer: %s is a %v (%v); "+
		"arche moves components as raw bytes and the garbage collector would corrupt it",
		e.Type, e.Path, e.Field, e.Field.Kind())
}

// checked remembers the verdict for each type; reflection is slow and types do
// not change.
var checked sync.Map // reflect.Type -> verdict

// verdict wraps the error, because a nil interface cannot be told from absence.
type verdict struct{ err error }

// CheckPointerFree returns a *PointerError if a value of the type holds a Go
// pointer at any depth: pointer, slice, string, map, channel, function,
// interface or unsafe.Pointer, in a field, an embedded or nested struct, or an
// array. Exported or not makes no difference. An array of length 0 holds
// nothing, and a uintptr is a number.
func CheckPointerFree(t reflect.Type) error {
	if v, ok := checked.Load(t); ok {
		return v.(verdict).err
	}
	var err error
	if path, field := findPointer(t, t.String()); field != nil {
		err = &PointerError{Type: t, Path: path, Field: field}
	}
	checked.Store(t, verdict{err})
	return err
}

func findPointer(t reflect.Type, path string) (string, reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.String, reflect.Map, reflect.Chan,
		reflect.Func, reflect.Interface, reflect.UnsafePointer:
		return path, t
	case reflect.Array:
		if t.Len() > 0 {
			return findPointer(t.Elem(), path+"[]")
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if p, found := findPointer(f.Type, path+"."+f.Name); found != nil {
				return p, found
			}
		}
	}
	return "", nil
}
