package levelfile_test

import (
	"fmt"

	"github.com/gaitnet/gait/systems/collision/levelfile"
)

func ExampleParse() {
	file := []byte("v -5 0 5\nv 5 0 5\nv 5 0 -5\nv -5 0 -5\nf 1 2 3 4\nf 1 2 2\n")
	level, report, err := levelfile.Parse("floor.obj", file, levelfile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report)
	fmt.Println(level.Bounds())

	_, _, err = levelfile.Parse("broken.obj", append(file, "f 1 2 9\n"...), levelfile.Options{})
	fmt.Println(err)
	// Output:
	// OBJ, 2 triangles, 1 degenerate dropped
	// [-500 -500 0] [500 500 0]
	// broken.obj: line 7: a face has vertex 9, there are 4 before it
}
